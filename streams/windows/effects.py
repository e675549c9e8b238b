"""The effects of a window: requests to the LLM stage, and notices about its context."""

from msgspec import Struct

from schemas.conversations.messages import Scope
from schemas.conversations.windows import Pruning, Reason, Statistics
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


Effect = ExtractionRequest | ContextWarning | ContextPruned
