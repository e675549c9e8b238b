"""Reads a whole namespace in pages. Between pages it holds neither a connection nor a snapshot."""

from collections.abc import Collection, Sequence
from itertools import groupby
from operator import attrgetter

from schemas.codec import convert
from schemas.memories.memories import Memory, Status
from sinks.memories.reader import MemoryVersion, memories_from, with_deleted_contents
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class Exports:
    """Reads memories in the order of their ids, so that one that changes meanwhile appears once."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def existing(self, namespaces: Collection[str]) -> tuple[str, ...]:
        """Those of these namespaces that ever had memories, in order. Raises Retryable."""
        with translated("finding namespaces to export"):
            rows = await self._pool.fetch(query("exports", "existing"), list(map(storable, namespaces)))
        return tuple(row["namespace"] for row in rows)

    async def page(self, namespace: str, after_id: str, statuses: Sequence[Status], limit: int) -> tuple[Memory, ...]:
        """Memories with an id behind `after_id` ("" for the first page), deleted ones with the contents that an undo restores;
        empty at the end. Raises Retryable."""
        with translated("exporting memories"):
            rows = await self._pool.fetch(query("exports", "page"), namespace, after_id, list(statuses), limit)
        return await with_deleted_contents(self._pool, memories_from(rows))

    async def versions(self, memory_ids: Sequence[str]) -> dict[str, tuple[MemoryVersion, ...]]:
        """All versions of these memories, oldest first. Raises Retryable."""
        with translated("exporting versions"):
            rows = await self._pool.fetch(query("exports", "versions"), list(memory_ids))
        found = (convert(dict(row), MemoryVersion) for row in rows)
        return {memory_id: tuple(group) for memory_id, group in groupby(found, attrgetter("memory_id"))}
