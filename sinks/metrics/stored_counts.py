"""Counts of stored rows for metrics, in one query."""

from msgspec import Struct, convert

from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class StoredCounts(Struct, frozen=True, kw_only=True):
    """Counts of the whole deployment: `windows` by phase, `split_conversations` with active windows in several partitions,
    `parked` requests by lane, consolidation `runs` of the last day by status. `overdue_s` is the age of the earliest
    scheduled time without a run. `passages` is an estimate by PostgreSQL's statistics: an exact count of a million rows
    takes too long."""

    outbox: int
    outbox_age_s: float
    memories: int
    namespaces: int
    namespaces_with_memories: int
    windows: dict[str, int]
    split_conversations: int
    parked: dict[str, int]
    runs: dict[str, int]
    overdue_s: float
    passages: int
    passage_bytes: int
    passage_removals_age_s: float


async def stored_counts(pool: Pool) -> StoredCounts:
    """Counts in one query. Raises Retryable."""
    with translated("counting"):
        (row,) = await pool.fetch(query("stored_counts", "counts"))
        return convert(dict(row), StoredCounts)
