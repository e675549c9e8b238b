"""Memories related to a memory: by links in either direction, by similar meaning, and the passages of its sources."""

import asyncio
from typing import Literal, TypeAlias

from msgspec import Struct

from agents.api.memories.views import MemoryView, view
from agents.api.ports import Ports
from agents.curation.rules.thresholds import of_model
from agents.retrieval.rights import MayRead, may_read_any
from schemas.errors import Retryable
from schemas.memories.memories import Memory
from schemas.passages.passages import Passage

NEAR_WITHIN_S = 2.0
NEAR = 0.5  # cosine of all-MiniLM-L6-v2
MOST_SOURCES = 20
MOST_LINKING = 100  # memories with links to one; what everybody links to could have a whole namespace

Relation: TypeAlias = Literal["supersedes", "superseded_by", "refines", "refined_by", "relates"]
BACKWARDS: dict[str, Relation] = {"supersedes": "superseded_by", "refines": "refined_by", "relates": "relates"}


class Linked(Struct, frozen=True, kw_only=True):
    """The memory asked about `supersedes`, `refines`, ... this one."""

    relation: Relation
    memory: MemoryView


class SimilarMemory(Struct, frozen=True, kw_only=True):
    """A live memory near in meaning; `score` is the cosine."""

    score: float
    memory: MemoryView


class Related(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Linked memories, of those that link to it 100 at most; near ones, the nearest first; and of what was said the passages of
    its latest 20 sources, in the order they were said, where the caller may read them. `degraded`: the index could not be
    asked, so nothing is `near`."""

    linked: tuple[Linked, ...]
    near: tuple[SimilarMemory, ...]
    passages: tuple[Passage, ...] = ()
    degraded: bool = False


async def related(ports: Ports, memory: Memory, limit: int, min_score: float | None, may_read: MayRead) -> Related:
    """Without `min_score` the least cosine is the embedding model's. Raises Retryable when the memories cannot be read."""
    least = of_model(ports.vectors.embedding_model).on_scale(NEAR) if min_score is None else min_score
    (near, degraded), relations, passages = await asyncio.gather(
        similar_memories(ports, memory, limit, least), linked(ports, memory), passages_of(ports, memory, may_read)
    )
    known = await ports.stored.by_ids({*near, *relations})
    shown = {each.memory_id: view(each, "short") for each in known.values() if is_shown(each, memory)}
    return Related(
        linked=tuple(Linked(relation=relations[each], memory=shown[each]) for each in relations if each in shown),
        near=tuple(SimilarMemory(score=near[each], memory=shown[each]) for each in near if each in shown),
        passages=passages,
        degraded=degraded,
    )


def is_shown(other: Memory, memory: Memory) -> bool:
    """Nothing leads out of a namespace; what the index has may be gone by now."""
    return other.namespace == memory.namespace and other.status != "deleted" and other.memory_id != memory.memory_id


async def passages_of(ports: Ports, memory: Memory, may_read: MayRead) -> tuple[Passage, ...]:
    messages = [(source.conversation_id, source.message_id) for source in memory.sources[-MOST_SOURCES:]]
    found = await ports.passages.of_messages(messages, (memory.namespace,)) if messages else []
    return tuple(each.passage for each in found if may_read_any(may_read, each.owners))


async def linked(ports: Ports, memory: Memory) -> dict[str, Relation]:
    """How the memory is linked with others, by their ids."""
    relations: dict[str, Relation] = {}
    if memory.supersedes:
        relations[memory.supersedes] = "supersedes"
    if memory.superseded_by:
        relations[memory.superseded_by] = "superseded_by"
    for link in memory.links:
        relations.setdefault(link.memory_id, link.type)
    for other in await ports.stored.linking(memory.namespace, [memory.memory_id], MOST_LINKING):
        backwards = (BACKWARDS[link.type] for link in other.links if link.memory_id == memory.memory_id)
        relations.setdefault(other.memory_id, next(backwards))
    return relations


async def similar_memories(ports: Ports, memory: Memory, limit: int, min_score: float) -> tuple[dict[str, float], bool]:
    """Cosines by ids, and whether the index failed to tell."""
    points = await ports.stored.points([memory.memory_id], ports.vectors.embedding_model)
    if not points:  # embedded by another model, or not yet
        return {}, False
    try:
        async with asyncio.timeout(NEAR_WITHIN_S):
            found = await ports.vectors.neighbours(
                memory.namespace, points[0].vector, min_score=min_score, limit=limit + 1
            )
    except (Retryable, TimeoutError):
        return {}, True
    others = [each for each in found if each.memory_id != memory.memory_id]
    return {each.memory_id: each.score for each in others[:limit]}, False
