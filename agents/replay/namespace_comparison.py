"""Reads both sides of a comparison: the live namespace and its shadow."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

from agents.curation.rules.decisions.thresholds import thresholds
from agents.replay.comparison import (
    Difference,
    EndedMemory,
    KeptReason,
    LiveMemory,
    ReplayedMemory,
    compare,
    replayed_whole,
)
from schemas.errors import Misconfigured
from schemas.memories.memories import Memory
from schemas.policies.shadows import shadow_of
from schemas.replay.generations import Generation
from sinks.erasure.erased_memories import ErasedMemories, Messages, is_among
from sinks.memories.reader import Memories, Reader
from sinks.replay.shadows import Ranges, RemovedMemory, Shadows

PAGE: Final = 5_000
AUTOMATIC_CHANGES: Final = frozenset(("compacted", "expired"))  # ended by compaction or expiry


async def differences(
    reader: Reader, generation: Generation, namespace: str, embedding_model: str, at_most: int | None = None
) -> list[Difference]:
    """The changes that a cutover would make in a namespace now. Raises Retryable, and Misconfigured for more than `at_most`
    live, ended or replayed memories."""
    memories, shadows = Memories(reader), Shadows(reader, generation.generation_id)
    live = await all_live(memories, namespace, at_most)
    erased = await ErasedMemories(reader).messages(namespace)
    shadow = await all_live(memories, shadow_of(generation.generation_id, namespace), at_most)
    replayed = [memory for memory in shadow if not is_among(memory.sources, erased)]
    ended = await shadows.removed(namespace, at_most and at_most + 1) if replayed else ()
    require_within_limit(len(ended), generation, namespace, at_most)
    require_within_limit(max(len(live), len(replayed)), generation, namespace, at_most)
    ranges = await shadows.ranges(conversations(live, ended))
    by_hand = await shadows.by_hand([memory.memory_id for memory in live])
    vectors = await memories.vectors([memory.memory_id for memory in (*live, *replayed)], embedding_model)
    return await asyncio.to_thread(
        compare,
        [
            LiveMemory(
                memory=each,
                vector=vectors.get(each.memory_id),
                reason_kept=reason_to_keep(each, by_hand, ranges, erased),
            )
            for each in live
        ],
        [EndedMemory(memory=each.before, why=why) for each in ended if (why := reason_ended(each, ranges)) is not None],
        [ReplayedMemory(memory=each, vector=vectors.get(each.memory_id)) for each in replayed],
        thresholds(embedding_model, generation.plan.policies.governing(namespace)),
    )


async def all_live(memories: Memories, namespace: str, at_most: int | None) -> list[Memory]:
    """All live memories; stops reading above `at_most`."""
    found: list[Memory] = []
    while page := await memories.in_namespace(namespace, limit=PAGE, offset=len(found)):
        found += page
        if len(page) < PAGE or (at_most is not None and len(found) > at_most):
            break
    return found


def require_within_limit(memories: int, generation: Generation, namespace: str, at_most: int | None) -> None:
    """Raises Misconfigured above the limit."""
    if at_most is not None and memories > at_most:
        raise Misconfigured(
            f"namespace {namespace} holds more than {at_most} memories to compare: "
            f"`memstream diff {generation.generation_id} -n {namespace}` shows them"
        )


def conversations(live: Sequence[Memory], ended: Sequence[RemovedMemory]) -> set[str]:
    """The conversations that the memories of a namespace come from."""
    sources = [source for memory in live for source in memory.sources]
    sources += [source for each in ended for source in each.successor_sources or ()]
    return {source.conversation_id for source in sources}


def reason_to_keep(
    memory: Memory, by_hand: Collection[str], ranges: dict[str, Ranges], erased: Messages
) -> KeptReason | None:
    """The reason why a cutover keeps a live memory: a person changed it, or its sources are outside of the replay. Messages of
    erased memories are: a replay makes nothing of them."""
    if memory.memory_id in by_hand:
        return "by hand"
    if memory.pinned:
        return "pinned"
    is_replayed = replayed_whole(memory.sources, ranges) and not is_among(memory.sources, erased)
    return None if is_replayed else "said elsewhere"


def reason_ended(ended: RemovedMemory, ranges: dict[str, Ranges]) -> str | None:
    """The reason why an ended memory must not come back: a person deleted it, or a message outside of the replay ended it."""
    if ended.cause.command_id is not None and ended.change not in AUTOMATIC_CHANGES:
        return f"{ended.change} by hand"
    if ended.change == "superseded" and not replayed_whole(ended.successor_sources or (), ranges):
        return "superseded by a message outside the replay"
    return None
