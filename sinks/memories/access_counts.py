"""How often memories were read: counted beside them, in batches."""

from collections.abc import Collection, Mapping

from msgspec import Struct

from schemas.conversations.messages import Moment
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class Access(Struct, frozen=True):
    """Of one memory: how often it was read, and when last."""

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
        """Adds to what is counted of each memory; those that are gone are passed over. Raises Retryable."""
        ids, counts = list(counted), [access.access_count for access in counted.values()]
        times = [access.last_accessed_at for access in counted.values()]
        with translated("counting what was read"):
            await self._pool.execute(query("accesses", "add"), ids, counts, times)

    async def of(self, memory_ids: Collection[str]) -> dict[str, Access]:
        """What is counted of each; those that were never read are missing. Raises Retryable."""
        with translated("asking how often memories were read"):
            rows = await self._pool.fetch(query("accesses", "of"), list(memory_ids))
        return {row["memory_id"]: Access(row["access_count"], row["last_accessed_at"]) for row in rows}
