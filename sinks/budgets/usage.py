"""Reads usage records: totals for people and services, and records not yet published to Kafka."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

import msgspec

from schemas.budgets.usage import Consumed, Total
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

FOREVER: Final = datetime.max.replace(tzinfo=UTC)


class UsageRecords:
    """Reads `model_usage`, which the ledger writes."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def totals(self, since: datetime, until: datetime = FOREVER, namespace: str | None = None) -> list[Total]:
        """Totals by operation, lane, provider and model from `since` until before `until`: of all namespaces, or the even
        share of one.

        A record or call that serves several namespaces counts as a whole for each of them. Raises Retryable.
        """
        with translated("reading usage"):
            if namespace is None:
                rows = await self._pool.fetch(query("usage", "totals"), since, until)
            else:
                rows = await self._pool.fetch(query("usage", "totals_of_namespace"), since, until, storable(namespace))
        return [msgspec.convert(dict(row), Total) for row in rows]

    @asynccontextmanager
    async def unpublished(self, limit: int) -> AsyncIterator[Sequence[Consumed]]:
        """The oldest unpublished records that no other process is publishing; marks them as published when the block ends
        without an error."""
        with translated("reading unpublished usage records"):
            async with self._pool.acquire() as connection, connection.transaction():
                rows = await connection.fetch(query("usage", "unpublished"), limit)
                yield [msgspec.convert(dict(row), Consumed) for row in rows]
                await connection.execute(query("usage", "mark_published"), [row["usage_id"] for row in rows])
