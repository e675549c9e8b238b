"""Rebuilds the vector index from PostgreSQL: after its loss, after a change of the embedding model, or in doubt.

Safe while workers run. Every writer of the index holds the lock of the namespace, so does this, page by page: each page is
the state of PostgreSQL at that moment. A namespace waits while one of its pages is written; nothing is held between pages.
"""

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from msgspec import Struct

from schemas.errors import Misconfigured
from sinks.embeddings.port import Embedder
from sinks.memories.reader import Memories
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query
from sinks.vectors.port import VectorIndex, to_bytes

PAGE = 200  # memories per lock


class Reindexed(Struct, frozen=True, kw_only=True):
    """The numbers of points written and removed, and of memories left out because another model made their vectors."""

    written: int
    removed: int
    left_out: int


async def reindex(pool: Pool, vectors: VectorIndex, embedder: Embedder | None = None, *, page: int = PAGE) -> Reindexed:
    """Writes the stored vector of every memory to the index and removes points that PostgreSQL does not know.

    With an `embedder`, memories with vectors of another model are embedded again; without one they are left out. A
    collection that was lost, or has another dimension or model, is recreated: no worker starts on it, and none decides by
    it, until it is complete. Can be interrupted and repeated. Stop workers with another model first: they would go on
    writing its vectors.
    """
    is_recreated = await recreated(vectors)
    indexer = _Reindexer(pool, vectors, embedder)
    written, left_out = await indexer.write_all(page)
    removed = await indexer.remove_unknown(page)
    if is_recreated and not left_out:
        await vectors.complete()
    return Reindexed(written=written, removed=removed, left_out=left_out)


async def recreated(vectors: VectorIndex) -> bool:
    """Recreates a collection with vectors of another model; returns whether it did. PostgreSQL has all texts."""
    if not await vectors.exists():
        await vectors.recreate()
        return True
    try:
        await vectors.ensure_collection()
    except Misconfigured:
        await vectors.recreate()
        return True
    return False


class _Reindexer:
    def __init__(self, pool: Pool, vectors: VectorIndex, embedder: Embedder | None) -> None:
        self._pool = pool
        self._vectors = vectors
        self._embedder = embedder

    async def write_all(self, page: int) -> tuple[int, int]:
        written, left_out, last = 0, 0, ("", "")
        while keys := await self._keys_after(last, page):
            for namespace, group in groupby(keys, itemgetter(0)):
                points, others = await self._write(namespace, [memory_id for _, memory_id in group])
                written, left_out = written + points, left_out + others
            last = keys[-1]
        return written, left_out

    async def remove_unknown(self, page: int) -> int:
        removed = 0
        async for held in self._vectors.ids(page=page):
            for namespace, group in groupby(sorted(held), itemgetter(0)):
                removed += await self._remove(namespace, {memory_id for _, memory_id in group})
        return removed

    async def _keys_after(self, last: tuple[str, str], page: int) -> list[tuple[str, str]]:
        with translated("reindexing"):
            rows = await self._pool.fetch(query("memories", "keys_after"), *last, page)
        return [(row["namespace"], row["memory_id"]) for row in rows]

    async def _write(self, namespace: str, memory_ids: Sequence[str]) -> tuple[int, int]:
        with translated("reindexing"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("memories", "lock_namespace"), namespace)
                left_out = await self._embed_again(connection, memory_ids)
                points = await Memories(connection).points(memory_ids, self._vectors.embedding_model)
                await self._vectors.upsert(points)
        return len(points), left_out

    async def _embed_again(self, connection: Connection, memory_ids: Sequence[str]) -> int:
        """Embeds memories with vectors of another model; returns how many stay without one of this model."""
        model = self._vectors.embedding_model
        rows = await connection.fetch(query("memories", "embedded_otherwise"), list(memory_ids), model)
        if self._embedder is None or not rows:
            return len(rows)
        vectors = await self._embedder.embed([row["text"] for row in rows])
        ids, models, stored = [row["memory_id"] for row in rows], [model] * len(rows), list(map(to_bytes, vectors))
        await connection.execute(query("memories", "store_embeddings"), ids, models, stored)
        return 0

    async def _remove(self, namespace: str, memory_ids: set[str]) -> int:
        with translated("reindexing"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("memories", "lock_namespace"), namespace)
                points = await Memories(connection).points(memory_ids, self._vectors.embedding_model)
                unknown = memory_ids - {point.memory_id for point in points if point.namespace == namespace}
                await self._vectors.delete(unknown)
        return len(unknown)
