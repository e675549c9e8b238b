"""Outcomes of candidates and commands. They are stored, so that a repetition gets the same answer."""

from typing import Literal, TypeAlias

from msgspec import Struct

from schemas.memories.memories import Change

WishResult: TypeAlias = Literal[
    "forgotten", "unknown", "unclear", "reported", "erasure_reported", "erasure_begun", "dropped"
]
Result: TypeAlias = Literal["created", "reinforced", "merged", "superseded", "dropped"]


class Ruling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one candidate; `memory_id` is the memory that now says it, None if it was dropped, perhaps on account of the
    wish `wish_id`, which was decided about before."""

    candidate_id: str
    result: Result
    memory_id: str | None = None
    reason: str | None = None
    wish_id: str | None = None


class Granted(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of one wish to have something forgotten, and which memories it took. `unclear`: more than it can have meant would
    go, so nothing does; `reported`: the policy leaves it to people. `erasure_reported`, `erasure_begun`: it is a wish to have
    everything forgotten."""

    wish_id: str
    result: WishResult
    memory_ids: tuple[str, ...] = ()
    erasure_id: str | None = None
    reason: str | None = None


class Outcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`settled`: a part, with a ruling for each candidate and what came of each wish; `dropped`: a part that counts as answered,
    unseen; `accepted`/`rejected`: a command, with the memory it changed or the reason.

    `sequence` is the namespace's after it, `digest` the command's. `repeated` says that it was carried out before; this call
    changed nothing.
    """

    status: Literal["settled", "dropped", "accepted", "rejected"]
    namespace: str
    sequence: int
    rulings: tuple[Ruling, ...] = ()
    wishes: tuple[Granted, ...] = ()
    memory_id: str | None = None
    change: Change | None = None
    reason: str | None = None
    digest: str | None = None
    completed: bool = False
    repeated: bool = False
