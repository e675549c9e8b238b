"""The effects of a window: requests to the LLM stage, and notices about its context."""

from msgspec import Struct

from schemas.conversations.adjustments import Mark, Marked
from schemas.conversations.messages import Scope
from schemas.conversations.windows import Cause, Pruning, Reason, Statistics
from schemas.extraction.requests import ExtractionRequest


class ContextWarning(Struct, frozen=True):
    """The context came to a level that calls for pruning; `statistics` are those of that moment."""

    scope: Scope
    position: int
    statistics: Statistics


class ContextPruned(Struct, frozen=True):
    """Messages left the context; `reasons` say why, by message id, of the latest 200, `statistics` what is left."""

    scope: Scope
    position: int
    pruning: Pruning
    reasons: dict[str, Reason]
    statistics: Statistics


class ContextRestored(Struct, frozen=True):
    """A clear was undone: `restored` messages are back in context."""

    scope: Scope
    position: int
    restored: int
    statistics: Statistics


class MessageMarked(Struct, frozen=True):
    """Somebody marked a message; `outcome` says whether it holds. `position` is that of the control event."""

    scope: Scope
    position: int
    message_id: str
    importance: Mark
    outcome: Marked


class PruningFailed(Struct, frozen=True):
    """A decision about what leaves the context failed: nothing left, and the message at `position` stays in."""

    scope: Scope
    position: int
    cause: Cause
    error: str


Effect = ExtractionRequest | ContextWarning | ContextPruned | ContextRestored | MessageMarked | PruningFailed
