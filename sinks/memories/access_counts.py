"""Access counts of memories, written in batches."""

from collections.abc import Collection, Mapping

from msgspec import Struct

from schemas.conversations.messages import Moment
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class Access(Struct, frozen=True):
    """How often a memory was read, and when last."""

    access_count: int
    last_accessed_at: Moment

    def __add__(self, other: "Access") -> "Access":
        latest = max(self.last_accessed_at, other.last_accessed_at)
        return Access(self.access_count + other.access_count, latest)


class Accesses:
    """The `memory_accesses` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(self, counted: Mapping[str, Access]) -> None:
        """Adds to the counts of memories; deleted memories are skipped. Raises Retryable."""
        ids, counts = list(counted), [access.access_count for access in counted.values()]
        times = [access.last_accessed_at for access in counted.values()]
        with translated("storing access counts"):
            await self._pool.execute(query("accesses", "add"), ids, counts, times)

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]:
        """The counts of these memories; unread ones are missing. Raises Retryable."""
        with translated("reading access counts"):
            rows = await self._pool.fetch(query("accesses", "of"), list(memory_ids))
        return {row["memory_id"]: Access(row["access_count"], row["last_accessed_at"]) for row in rows}
