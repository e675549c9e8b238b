"""What was consumed, asked of the records: totals for people and services, and what has not yet been told on Kafka."""

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
        """By operation, lane, provider and model: of all namespaces together, or the even shares of one.

        From `since` on, before `until`. Records and calls that serve several namespaces count whole for each of them. Raises
        Retryable.
        """
        with translated("reading usage"):
            if namespace is None:
                rows = await self._pool.fetch(query("usage", "totals"), since, until)
            else:
                rows = await self._pool.fetch(query("usage", "totals_of_namespace"), since, until, storable(namespace))
        return [msgspec.convert(dict(row), Total) for row in rows]

    @asynccontextmanager
    async def unpublished(self, limit: int) -> AsyncIterator[Sequence[Consumed]]:
        """The oldest records that were not told of and that nobody else is telling of; told when the block ends well."""
        with translated("telling of usage"):
            async with self._pool.acquire() as connection, connection.transaction():
                rows = await connection.fetch(query("usage", "untold"), limit)
                yield [msgspec.convert(dict(row), Consumed) for row in rows]
                await connection.execute(query("usage", "told"), [row["usage_id"] for row in rows])
