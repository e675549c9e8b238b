"""The effects of a window: requests to the LLM stage, and notices about its context."""

from msgspec import Struct

from schemas.conversations.adjustments import Mark, Marked
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Cause, Pruning, Reason, Statistics
from schemas.extraction.requests import ExtractionRequest


class ContextWarning(Struct, frozen=True):
    """The context reached a level that calls for pruning; `statistics` are from that moment."""

    scope: Scope
    position: int
    statistics: Statistics


class ContextPruned(Struct, frozen=True):
    """Messages left the context; `reasons` by message id, of the latest 200; `statistics` of the rest."""

    scope: Scope
    position: int
    pruning: Pruning
    reasons: dict[str, Reason]
    statistics: Statistics


class ContextRestored(Struct, frozen=True):
    """A prune or clear by hand was undone: `restored` messages are back in context. `undone` is that pruning; None for a clear
    that an earlier version stored."""

    scope: Scope
    position: int
    restored: int
    statistics: Statistics
    undone: Pruning | None = None


class MessageMarked(Struct, frozen=True):
    """A message was marked; `outcome` says whether the mark holds. `position` is that of the control event."""

    scope: Scope
    position: int
    message_id: str
    importance: Mark
    outcome: Marked


class PruningFailed(Struct, frozen=True):
    """A pruning decision failed: nothing left the context, and the message at `position` stays."""

    scope: Scope
    position: int
    cause: Cause
    error: str


class EndedIncomplete(Struct, frozen=True):
    """A conversation ended without all messages that its end event announces, of which `received` messages arrived. `position`
    is that of the end event."""

    scope: Scope
    position: int
    received: int
    message_count: int | None
    last_message_id: str | None


Effect = (
    ExtractionRequest
    | ContextWarning
    | ContextPruned
    | ContextRestored
    | MessageMarked
    | PruningFailed
    | EndedIncomplete
)
