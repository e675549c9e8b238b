"""Limits: a namespace with too many live memories is brought back within its number, by steps that were planned before, else
by a rule. Pinned memories are counted, and never taken."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.curation.rules import change
from agents.curation.rules.ledger import Ledger
from agents.models.port import Compaction
from agents.models.prompts.compaction import MOST_SHOWN
from schemas.memories.events import Cause
from schemas.memories.memories import Memory
from sinks.vectors.port import Vector

RULE: Final = "memstream"  # the actor of what no model decided
MOST_AT_ONCE: Final = 1_000  # memories that one decision takes; where a limit was lowered by more, the next ones go on


class PlannedStep(Struct, frozen=True, kw_only=True):
    """A step that a model decided on, about texts as it saw them; `vector` is that of the new text of an edit."""

    compaction: Compaction
    seen: dict[str, str]  # the texts of the memories it names, by their ids
    vector: Vector | None = None


class NeedsInput(Exception):
    """A decision lacks an input. The caller fetches it without holding a lock, and decides again."""


class NeedsPlan(NeedsInput):
    """A namespace would have more live memories than it may, by `surplus`, and nothing is planned. `free` are those that may go,
    as they would be, oldest first."""

    def __init__(self, free: Sequence[Memory], surplus: int) -> None:
        super().__init__(f"{surplus} live memories too many")
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
    """Enters what brings the namespace to at most `most` live memories, as far as those allow that are pinned or `spared`.

    The ledger should know what is `needed`. Steps of the plan are taken where the memories still say what the model saw; where
    there is none left the oldest of least importance goes. Raises Crowded when there are too many and `plan` is None: somebody
    may plan then.
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
    """How many live memories exceed the limit, at most as many as one decision removes."""
    return 0 if most is None else min(ledger.number_live - most, MOST_AT_ONCE)


def number_to_load(ledger: Ledger, most: int | None) -> int:
    """How many unpinned memories, the oldest of least importance first, have to be known before it is decided which go: as many
    as go and as a model is shown, also if all that changed are among them."""
    surplus = count_surplus(ledger, most)
    return 0 if surplus <= 0 else surplus + MOST_SHOWN + len(ledger.entries) + 1


def is_still_valid(step: PlannedStep, free: Mapping[str, Memory]) -> bool:
    """Whether all memories of the step exist with unchanged texts."""
    return all(memory_id in free and free[memory_id].text == text for memory_id, text in step.seen.items())


def least_important(free: Iterable[Memory], number: int) -> list[Memory]:
    """The oldest of least importance, so many of them: sorted once, as there may be thousands."""
    return sorted(free, key=lambda memory: (memory.importance, memory.created_at, memory.sequence))[: max(0, number)]


def rule(most: int) -> str:
    return f"the oldest of least importance, as there may be {most} memories"


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
    gone = replace(change.deleted(absorbed, now), superseded_by=memory.memory_id)
    ledger.enter("compacted", gone, cause, now)


def _drop(ledger: Ledger, memory: Memory, cause: Cause, now: datetime) -> None:
    ledger.enter("compacted", change.deleted(memory, now), cause, now)


def memories_after(free: Sequence[Memory], compaction: Compaction) -> tuple[Memory, ...]:
    """The memories once a step is taken, for whoever plans the next one."""
    gone = compaction.memory_id if compaction.action == "delete" else compaction.absorbs
    return tuple(
        replace(memory, text=compaction.text)
        if memory.memory_id == compaction.memory_id and compaction.text is not None
        else memory
        for memory in free
        if memory.memory_id != gone
    )
