"""Consolidation runs: what was said and is not extracted yet, asked for together, at night or by hand; and their dry runs."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from schemas.conversations.messages import Identifier, Moment
from schemas.extraction.requests import Lane
from schemas.policies.policies import Schedule

RunTrigger = Literal["schedule", "hand"]
RunStatus = Literal["pending", "running", "completed", "failed"]
FoundResult = Literal["created", "reinforced", "merged", "superseded", "dropped"]

MOST_LOOKED_AT = 10_000  # conversations of a dry run


class RunRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A run by hand, about a policy's conversations, those that feed a namespace, one conversation, or all.

    A `dry_run` writes nothing but what it found, and looks at `most` conversations at most. What the other one asks for goes in
    `lane`: in the background it may wait for batches, budgets and live work. Raises ValueError for more than one scope.
    """

    policy: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    namespace: Identifier | None = None
    conversation_id: Identifier | None = None
    dry_run: bool = False
    lane: Lane = "background"
    most: Annotated[int, Meta(ge=1, le=MOST_LOOKED_AT)] | None = None

    def __post_init__(self) -> None:
        named = [each for each in (self.policy, self.namespace, self.conversation_id) if each is not None]
        if len(named) > 1:
            raise ValueError("name a policy, a namespace or a conversation_id, or none of them for all: not several")
        if self.most is not None and not self.dry_run:
            raise ValueError("most is for a dry_run alone: a run is about all that waits")


class Counts(Struct, frozen=True, kw_only=True):
    """What came of extraction requests: of their candidates by result, and what their model calls consumed.

    `cost_micros` are millionths of a US dollar, of calls whose price is known.
    """

    requests: int = 0
    failed_requests: int = 0
    created: int = 0
    reinforced: int = 0
    merged: int = 0
    superseded: int = 0
    dropped: int = 0
    tokens: int = 0
    cost_micros: int = 0
    providers: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


class ConsolidationRun(Counts, frozen=True, kw_only=True):
    """A run: whose, what is asked, how far it is and what came of it so far.

    It is about what waited when it began: `conversations` of which `processed` are done. `missed` moments of the schedule passed
    before `due_at` while nobody could look, and are made good by this one run. `namespaces` are those whose readers may see it;
    none: who may read all.
    """

    run_id: str
    trigger: RunTrigger
    status: RunStatus
    asked_by: str
    due_at: Moment
    created_at: Moment
    dry_run: bool = False
    lane: Lane = "background"
    policy: str | None = None
    namespace: str | None = None
    conversation_id: str | None = None
    namespaces: tuple[str, ...] = ()
    most: int | None = None
    missed: int = 0
    started_at: Moment | None = None
    finished_at: Moment | None = None
    conversations: int = 0
    processed: int = 0
    error: str | None = None

    @property
    def scope(self) -> str:
        """What it is about, in words."""
        named = {"policy": self.policy, "namespace": self.namespace, "conversation": self.conversation_id}
        return next((f"{what} {name}" for what, name in named.items() if name is not None), "everything")


class Scheduled(Struct, frozen=True, kw_only=True):
    """A policy's schedule, and the moment for which its next run is noted."""

    policy: str
    schedule: Schedule
    next_due: Moment


class Finding(Struct, frozen=True, kw_only=True):
    """What would become of one candidate. `memory_id` would be reinforced, merged or superseded; `known` is what it says now,
    None for one that this dry run would make before."""

    namespace: str
    conversation_id: str
    result: FoundResult
    kind: str
    text: str
    message_ids: tuple[str, ...]
    memory_id: str | None = None
    known: str | None = None
    reason: str | None = None
    number: int = 0
