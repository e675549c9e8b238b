"""Consolidation runs: extraction of waiting messages, scheduled or by hand, and dry runs."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from schemas.budgets.budgets import Lane
from schemas.conversations.messages import Identifier, Moment
from schemas.policies.triggers import Schedule

RunTrigger = Literal["schedule", "hand"]
RunStatus = Literal["pending", "running", "completed", "failed"]
FoundResult = Literal["created", "reinforced", "merged", "superseded", "dropped"]

MOST_LOOKED_AT = 10_000  # conversations per dry run


class RunRequest(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A manual run: of a policy's conversations, of a namespace's, of one conversation, or of all. Raises ValueError for
    more than one scope.

    A `dry_run` stores its findings only, and covers at most `most` conversations. Other runs send their requests in `lane`:
    in the background lane they may wait for batches, budgets and live requests.
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
            raise ValueError("most is for a dry_run only: a run extracts all waiting messages")


class Counts(Struct, frozen=True, kw_only=True):
    """The outcome of extraction requests: candidates by result, and the consumption of model calls. `cost_micros` are
    millionths of a US dollar, of calls with a known price."""

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
    """A run: scope, trigger, progress, and outcome so far.

    It covers the messages that waited when it began: `conversations`, of which `processed` are done. `missed` counts
    scheduled times before `due_at` that passed without a worker and that this run replaces. Readers of `namespaces` may see
    it; without `namespaces`, readers of all namespaces.
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
        """The scope of the run, in words."""
        named = {"policy": self.policy, "namespace": self.namespace, "conversation": self.conversation_id}
        return next((f"{what} {name}" for what, name in named.items() if name is not None), "everything")


class Scheduled(Struct, frozen=True, kw_only=True):
    """A policy's schedule, and the time of its next run."""

    policy: str
    schedule: Schedule
    next_due: Moment


class Finding(Struct, frozen=True, kw_only=True):
    """The outcome that a candidate would have. `memory_id` would be reinforced, merged or superseded; `known` is its current
    text, None for a memory that the dry run itself would create."""

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
