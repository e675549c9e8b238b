"""Reduces a namespace with too many live memories, by steps that a model planned, otherwise by a rule. Pinned memories count
but are never removed."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.curation.rules.ledger import change
from agents.curation.rules.ledger.ledger import Ledger
from agents.models.port import Compaction
from agents.models.prompts.compaction import MAX_SHOWN
from schemas.counts import counted
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.vectors.port import Vector

RULE: Final = "memstream"  # the actor of removals by the rule
MAX_REMOVALS: Final = 1_000  # per decision; after a limit was lowered, later decisions continue


class PlannedStep(Struct, frozen=True, kw_only=True):
    """A step that a model decided, with the texts that it saw. `vector` is that of an edit's new text."""

    compaction: Compaction
    seen: dict[str, str]  # by memory id, the texts that the model saw
    vector: Vector | None = None


class NeedsInput(Exception):
    """A decision lacks an input. The caller fetches it without holding a lock, and decides again."""


class NeedsPlan(NeedsInput):
    """A namespace would have `surplus` live memories too many, and no removals are planned. `free` are the memories that may
    be removed, in their new state, oldest first."""

    def __init__(self, free: Sequence[Memory], surplus: int) -> None:
        super().__init__(f"{counted(surplus, 'live memories')} too many")
        self.free = tuple(free)
        self.surplus = surplus


def enforce_limit(
    ledger: Ledger,
    most: int | None,
    plan: Sequence[PlannedStep] | None,
    cause: Cause,
    now: datetime,
    spared: str | None = None,
) -> None:
    """Reduces the namespace to at most `most` live memories; pinned memories and `spared` stay.

    The ledger must know `number_to_load` memories. Applies planned steps whose memories still have the texts that the model
    saw, then removes the oldest memories of the least importance. Raises NeedsPlan if the limit is exceeded and `plan` is
    None.
    """
    if (surplus := count_surplus(ledger, most)) <= 0 or most is None:
        return
    free = {each.memory_id: each for each in ledger.live_memories() if not each.pinned and each.memory_id != spared}
    if free and plan is None:
        raise NeedsPlan([*free.values()], surplus)
    waiting = list(plan or ())
    while surplus > 0 and (step := next((each for each in waiting if is_still_valid(each, free)), None)) is not None:
        waiting.remove(step)
        apply_step(ledger, step, cause, now)
        free = {memory_id: memory for memory_id in free if (memory := ledger.find_live(memory_id)) is not None}
        surplus -= 1
    for memory in least_important(free.values(), surplus):
        _drop(ledger, memory, replace(cause, actor=RULE, reason=rule(most)), now)


def count_surplus(ledger: Ledger, most: int | None) -> int:
    """The number of live memories above the limit, at most MAX_REMOVALS."""
    return 0 if most is None else min(ledger.number_live - most, MAX_REMOVALS)


def number_to_load(ledger: Ledger, most: int | None) -> int:
    """The number of unpinned memories, least important first, that the decision needs: those to remove, those that a model
    is shown, and as many as this ledger changed."""
    surplus = count_surplus(ledger, most)
    return 0 if surplus <= 0 else surplus + MAX_SHOWN + len(ledger.entries) + 1


def is_still_valid(step: PlannedStep, free: Mapping[str, Memory]) -> bool:
    """Whether all memories of the step exist with unchanged texts."""
    return all(memory_id in free and free[memory_id].text == text for memory_id, text in step.seen.items())


def least_important(free: Iterable[Memory], number: int) -> list[Memory]:
    """The least important memories, the oldest of equals first. Sorts once, as there may be thousands."""
    return sorted(free, key=lambda memory: (memory.importance, memory.created_at, memory.sequence))[: max(0, number)]


def rule(most: int) -> str:
    return f"the least important memory beyond the limit of {most}"


def apply_step(ledger: Ledger, step: PlannedStep, cause: Cause, now: datetime) -> None:
    """Applies a planned step to the ledger."""
    compaction = step.compaction
    cause = replace(cause, actor=compaction.provider, reason=compaction.reason)
    memory = ledger.find_live(compaction.memory_id)
    assert memory is not None
    if compaction.action == "delete":
        _drop(ledger, memory, cause, now)
        return
    absorbed = ledger.find_live(compaction.absorbs)
    assert absorbed is not None
    edited = change.merged(memory, absorbed, compaction.text or "", now)
    ledger.enter("compacted", edited, cause, now, step.vector)
    removed = replace(change.deleted(absorbed, now), superseded_by=memory.memory_id)
    ledger.enter("compacted", removed, cause, now)


def _drop(ledger: Ledger, memory: Memory, cause: Cause, now: datetime) -> None:
    ledger.enter("compacted", change.deleted(memory, now), cause, now)


def memories_after(free: Sequence[Memory], compaction: Compaction) -> tuple[Memory, ...]:
    """The memories after a step, for planning the next one."""
    removed_id = compaction.memory_id if compaction.action == "delete" else compaction.absorbs
    return tuple(
        replace(memory, text=compaction.text)
        if memory.memory_id == compaction.memory_id and compaction.text is not None
        else memory
        for memory in free
        if memory.memory_id != removed_id
    )
