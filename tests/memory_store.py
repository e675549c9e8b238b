"""Stores memories in PostgreSQL as the curator does, without a curator."""

from collections.abc import Sequence

from agents.curation.rules.statements.normalise import normalise
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.embeddings.port import Embedder
from sinks.memories.entry import LedgerEntry
from sinks.memories.reader import Memories
from sinks.memories.writer import record, sequence
from sinks.postgres.connection import Pool
from sinks.vectors.port import Vector, VectorIndex

BY_TEST = Cause(actor="test")


async def store(pool: Pool, memories: Sequence[Memory], embedder: Embedder | None = None) -> None:
    """Stores the memories; with an embedder, their vectors too."""
    vectors = [None] * len(memories) if embedder is None else await embedder.embed([each.text for each in memories])
    for memory, vector in zip(memories, vectors, strict=True):
        await store_one(pool, memory, vector, "" if embedder is None else embedder.model)


async def remember(pool: Pool, memories: Sequence[Memory], embedder: Embedder, index: VectorIndex) -> None:
    """Stores the memories and projects them to the vector index."""
    await store(pool, memories, embedder)
    memory_ids = [memory.memory_id for memory in memories]
    points = await Memories(pool).points(memory_ids, embedder.model)
    await index.upsert(points)
    await index.delete(set(memory_ids) - {point.memory_id for point in points})


async def store_one(pool: Pool, memory: Memory, vector: Vector | None, model: str) -> None:
    entry = LedgerEntry(
        change="deleted" if memory.status == "deleted" else "created",
        before=None,
        after=memory,
        normalised=normalise(memory.text),
        cause=BY_TEST,
        at=memory.updated_at,
        vector=vector,
    )
    async with pool.acquire() as connection, connection.transaction():
        await sequence(connection, memory.namespace)
        await connection.execute("DELETE FROM memory_versions WHERE memory_id = $1", memory.memory_id)
        await record(connection, memory.namespace, [entry], model)
