"""Searching memories: the nearest live memories of the named namespaces."""

from collections.abc import Sequence

from msgspec import Struct

from schemas.memories import Memory
from sinks.embeddings.port import Embedder
from sinks.memories import Memories
from sinks.vectors import VectorIndex


class Hit(Struct, frozen=True):
    """A memory and the cosine of its vector with the query's."""

    score: float
    memory: Memory


async def search(
    query: str,
    namespaces: Sequence[str],
    embedder: Embedder,
    vectors: VectorIndex,
    memories: Memories,
    *,
    limit: int,
    min_score: float,
) -> list[Hit]:
    """At most `limit` live memories, nearest first. Raises Retryable."""
    (vector,) = await embedder.embed([query])
    found = await vectors.search(vector, namespaces=namespaces, limit=limit, min_score=min_score)
    known = await memories.by_ids([neighbour.memory_id for neighbour in found])
    return [Hit(found.score, known[found.memory_id]) for found in found if found.memory_id in known]
