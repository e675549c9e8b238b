"""How much there is of everything, for metrics: counted now, in one reading."""

from msgspec import Struct, convert

from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class StoredCounts(Struct, frozen=True, kw_only=True):
    """Of the whole deployment. `windows` by phase, `parked` requests by lane, consolidation `runs` of the last day by status.

    `overdue_s`: how long ago the earliest moment of a schedule came that has no run yet. `passages` are those that
    PostgreSQL's statistics know of: to count a million takes too long.
    """

    outbox: int
    outbox_age_s: float
    memories: int
    namespaces: int
    namespaces_with_memories: int
    windows: dict[str, int]
    parked: dict[str, int]
    runs: dict[str, int]
    overdue_s: float
    passages: int
    passage_bytes: int
    passage_removals_age_s: float


async def stored_counts(pool: Pool) -> StoredCounts:
    """Raises Retryable."""
    with translated("counting"):
        (row,) = await pool.fetch(query("standing", "standing"))
        return convert(dict(row), StoredCounts)
