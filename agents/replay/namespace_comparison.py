"""The two sides of a comparison, read: a namespace as it is, and the shadow that a generation made of it."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

from agents.curation.rules.thresholds import thresholds
from agents.replay.comparison import Difference, EndedMemory, LiveMemory, ReplayedMemory, Stays, compare, replayed_whole
from schemas.errors import Misconfigured
from schemas.memories.memories import Memory
from schemas.replay.generations import Generation
from schemas.replay.shadows import shadow_of
from sinks.memories.reader import Memories, Reader
from sinks.replay.generations import Ranges, RemovedMemory, Shadows

PAGE: Final = 5_000
BY_ITSELF: Final = frozenset(("compacted", "expired"))  # went for want of room or time


async def differences(
    reader: Reader, generation: Generation, namespace: str, embedding_model: str, at_most: int | None = None
) -> list[Difference]:
    """What the generation would change in a namespace now. Raises Retryable; Misconfigured where more than `at_most` memories
    are live there, live no longer, or of the generation."""
    memories, shadows = Memories(reader), Shadows(reader, generation.generation_id)
    live = await all_live(memories, namespace, at_most)
    again = await all_live(memories, shadow_of(generation.generation_id, namespace), at_most)
    gone = await shadows.removed(namespace, at_most and at_most + 1) if again else ()
    require_few(len(gone), generation, namespace, at_most)
    require_few(max(len(live), len(again)), generation, namespace, at_most)
    ranges = await shadows.ranges(conversations(live, gone))
    by_hand = await shadows.by_hand([memory.memory_id for memory in live])
    vectors = await memories.vectors([memory.memory_id for memory in (*live, *again)], embedding_model)
    return await asyncio.to_thread(
        compare,
        [
            LiveMemory(memory=each, vector=vectors.get(each.memory_id), stays=reason_to_stay(each, by_hand, ranges))
            for each in live
        ],
        [EndedMemory(memory=each.before, why=why) for each in gone if (why := went(each, ranges)) is not None],
        [ReplayedMemory(memory=each, vector=vectors.get(each.memory_id)) for each in again],
        thresholds(embedding_model, generation.plan.policies.governing(namespace)),
    )


async def all_live(memories: Memories, namespace: str, at_most: int | None) -> list[Memory]:
    """No more pages than show that there are more than `at_most`."""
    found: list[Memory] = []
    while page := await memories.in_namespace(namespace, limit=PAGE, offset=len(found)):
        found += page
        if len(page) < PAGE or (at_most is not None and len(found) > at_most):
            break
    return found


def require_few(memories: int, generation: Generation, namespace: str, at_most: int | None) -> None:
    """Raises Misconfigured."""
    if at_most is not None and memories > at_most:
        raise Misconfigured(
            f"namespace {namespace} holds more than {at_most} memories to compare: "
            f"`memstream diff {generation.generation_id} -n {namespace}` shows them"
        )


def conversations(live: Sequence[Memory], gone: Sequence[RemovedMemory]) -> set[str]:
    """All that anything of a namespace comes from."""
    sources = [source for memory in live for source in memory.sources]
    sources += [source for each in gone for source in each.successor_sources or ()]
    return {source.conversation_id for source in sources}


def reason_to_stay(memory: Memory, by_hand: Collection[str], ranges: dict[str, Ranges]) -> Stays | None:
    """Why a live memory does not give way: a person's word counts, and what was said outside of the replay."""
    if memory.memory_id in by_hand:
        return "by hand"
    if memory.pinned:
        return "pinned"
    return None if replayed_whole(memory.sources, ranges) else "said elsewhere"


def went(gone: RemovedMemory, ranges: dict[str, Ranges]) -> str | None:
    """Why what is gone must not come back, if it must not: somebody took it away, or something said outside of the replay did."""
    if gone.cause.command_id is not None and gone.change not in BY_ITSELF:
        return f"{gone.change} by hand"
    if gone.change == "superseded" and not replayed_whole(gone.successor_sources or (), ranges):
        return "superseded by what was said elsewhere"
    return None
