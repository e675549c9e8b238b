"""Daily counts of retrievals by namespace, and of those that found something; written in batches."""

from collections.abc import Mapping
from datetime import date
from typing import Literal, TypeAlias

from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

Operation = Literal["context", "search", "read"]
Counted: TypeAlias = tuple[str, date, Operation]  # namespace, day in UTC
Counts: TypeAlias = tuple[int, int]  # number of retrievals, and of those with results


class RetrievalCounts:
    """The `retrieval_counts` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, counted: Mapping[Counted, Counts]) -> None:
        """Adds to the counts. Raises Retryable."""
        rows = [(storable(namespace), *rest, *counts) for (namespace, *rest), counts in counted.items()]
        with translated("counting questions"):
            await self._pool.execute(query("retrieval_counts", "add"), *map(list, zip(*rows, strict=True)))
