"""Memories related to a memory: linked in either direction, similar in meaning, and the passages of its sources."""

import asyncio
from typing import Literal, TypeAlias

from msgspec import Struct

from agents.api.memories.views import MemoryView, memory_view
from agents.api.ports import Ports
from agents.curation.rules.decisions.thresholds import of_model
from agents.retrieval.read_rights import MayRead, may_read_any
from schemas.errors import Retryable
from schemas.memories.memories import Memory
from schemas.passages.passages import Passage

SEARCH_TIMEOUT_S = 2.0
MIN_COSINE = 0.5  # cosine of all-MiniLM-L6-v2
MAX_SOURCES = 20
MAX_LINKING = 100  # a popular memory could be linked from a whole namespace

Relation: TypeAlias = Literal["supersedes", "superseded_by", "refines", "refined_by", "relates"]
INVERSE_RELATIONS: dict[str, Relation] = {"supersedes": "superseded_by", "refines": "refined_by", "relates": "relates"}


class Linked(Struct, frozen=True, kw_only=True):
    """A linked memory. `relation` reads from the requested memory to this one: it `supersedes`, `refines`, ... this one."""

    relation: Relation
    memory: MemoryView


class SimilarMemory(Struct, frozen=True, kw_only=True):
    """A live memory of similar meaning; `score` is the cosine similarity."""

    score: float
    memory: MemoryView


class Related(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`linked` has linked memories, at most 100 of those that link to the requested one. `near` has similar memories, the
    most similar first. `passages` has the passages of the latest 20 source messages, in the order they were said, if the
    caller may read them. `degraded` is true if the vector index was unavailable; `near` is empty then."""

    linked: tuple[Linked, ...]
    near: tuple[SimilarMemory, ...]
    passages: tuple[Passage, ...] = ()
    degraded: bool = False


async def find_related(ports: Ports, memory: Memory, limit: int, min_score: float | None, may_read: MayRead) -> Related:
    """Finds related memories. `min_score` defaults to the threshold of the embedding model. Raises Retryable if PostgreSQL
    is unavailable."""
    threshold = of_model(ports.vectors.embedding_model).on_scale(MIN_COSINE) if min_score is None else min_score
    (scores, degraded), relations, passages = await asyncio.gather(
        find_similar(ports, memory, limit, threshold),
        find_linked(ports, memory),
        source_passages(ports, memory, may_read),
    )
    memories = await ports.stored.by_ids({*scores, *relations})
    views = {each.memory_id: memory_view(each, "short") for each in memories.values() if is_shown(each, memory)}
    return Related(
        linked=tuple(Linked(relation=relations[each], memory=views[each]) for each in relations if each in views),
        near=tuple(SimilarMemory(score=scores[each], memory=views[each]) for each in scores if each in views),
        passages=passages,
        degraded=degraded,
    )


def is_shown(other: Memory, memory: Memory) -> bool:
    """Whether the other memory exists in the same namespace: the index may lag, and responses stay within a namespace."""
    return other.namespace == memory.namespace and other.status != "deleted" and other.memory_id != memory.memory_id


async def source_passages(ports: Ports, memory: Memory, may_read: MayRead) -> tuple[Passage, ...]:
    messages = [(source.conversation_id, source.message_id) for source in memory.sources[-MAX_SOURCES:]]
    found = await ports.passages.of_messages(messages, (memory.namespace,)) if messages else []
    return tuple(each.passage for each in found if may_read_any(may_read, each.owners))


async def find_linked(ports: Ports, memory: Memory) -> dict[str, Relation]:
    """Returns the relation to each linked memory, by memory id."""
    relations: dict[str, Relation] = {}
    if memory.supersedes:
        relations[memory.supersedes] = "supersedes"
    if memory.superseded_by:
        relations[memory.superseded_by] = "superseded_by"
    for link in memory.links:
        relations.setdefault(link.memory_id, link.type)
    for other in await ports.stored.linking(memory.namespace, [memory.memory_id], MAX_LINKING):
        backwards = (INVERSE_RELATIONS[link.type] for link in other.links if link.memory_id == memory.memory_id)
        relations.setdefault(other.memory_id, next(backwards))
    return relations


async def find_similar(ports: Ports, memory: Memory, limit: int, min_score: float) -> tuple[dict[str, float], bool]:
    """Returns cosine similarities by memory id, and whether the vector index was unavailable."""
    points = await ports.stored.points([memory.memory_id], ports.vectors.embedding_model)
    if not points:  # embedded by another model, or not yet
        return {}, False
    try:
        async with asyncio.timeout(SEARCH_TIMEOUT_S):
            found = await ports.vectors.neighbours(
                memory.namespace, points[0].vector, min_score=min_score, limit=limit + 1
            )
    except (Retryable, TimeoutError):
        return {}, True
    others = [each for each in found if each.memory_id != memory.memory_id]
    return {each.memory_id: each.score for each in others[:limit]}, False
