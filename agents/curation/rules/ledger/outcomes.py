"""Outcomes of candidates and commands. They are stored, so that a redelivery gets the same one."""

from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from schemas.codec import convert
from schemas.erasure.receipts import Remains
from schemas.memories.events import MessageId
from schemas.memories.memories import Change

WishResult: TypeAlias = Literal[
    "forgotten", "unknown", "unclear", "reported", "erasure_reported", "erasure_begun", "dropped"
]
Result: TypeAlias = Literal["created", "reinforced", "merged", "superseded", "dropped"]


class Ruling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a candidate. `memory_id` is the memory that has its statement now, None if it was dropped. `wish_id` is
    the earlier wish to forget that covers it."""

    candidate_id: str
    result: Result
    memory_id: str | None = None
    reason: str | None = None
    wish_id: str | None = None


class WishOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome of a wish to forget, with the memories that it removed. `unclear`: it may mean too many memories, or
    nothing tells what it means, so none is removed. `reported`: the policy leaves the decision to people. `erasure_reported`,
    `erasure_begun`: a wish to forget everything. `messages` are hidden although no memory was removed."""

    wish_id: str
    result: WishResult
    memory_ids: tuple[str, ...] = ()
    erasure_id: str | None = None
    reason: str | None = None
    messages: tuple[MessageId, ...] = ()


class ErasedMemory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The effect of erasing a memory: numbers of deleted rows, more than one memory if compaction had merged others into it.
    The archive keeps its source `messages` until their conversation is erased or retention deletes them; `messages_hidden`:
    searches leave them out. `remains` lists the data that Kafka still holds."""

    memories: int
    versions: int
    vectors: int
    messages: int
    messages_hidden: bool
    remains: tuple[Remains, ...] = ()


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`settled`: a part, with a ruling for each candidate and the outcome of each wish. `dropped`: a part that became a dead
    letter. `accepted`, `rejected`: a command, with the changed memory or the reason.

    `sequence` is the namespace's afterwards, `digest` the command's. `erased`: the command erased a memory. `repeated`: it was
    decided before, and this call changed nothing.
    """

    status: Literal["settled", "dropped", "accepted", "rejected"]
    namespace: str
    sequence: int
    rulings: tuple[Ruling, ...] = ()
    wishes: tuple[WishOutcome, ...] = ()
    memory_id: str | None = None
    change: Change | None = None
    reason: str | None = None
    digest: str | None = None
    erased: ErasedMemory | None = None
    completed: bool = False
    repeated: bool = False


def as_repeated(stored: Any) -> Outcome:
    """The outcome of an earlier decision, from builtins."""
    return replace(convert(stored, Outcome), repeated=True)
