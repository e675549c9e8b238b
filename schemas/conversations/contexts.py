"""Conversation contexts: the query, and the context that answers it."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from schemas.conversations.adjustments import Mark
from schemas.conversations.messages import Identifier, Moment, Role, ToolCall, require_plausible
from schemas.conversations.windows import Reason, Statistics

ShownRole = Role | Literal["marker"]


class CurrentMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The message to be answered. If it has a `message_id`, it appears once, also after it is published."""

    content: str
    role: Role = "user"
    message_id: Identifier | None = None
    timestamp: Moment | None = None
    important: bool = False
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: Identifier | None = None

    def __post_init__(self) -> None:
        if self.timestamp is not None:
            require_plausible(self.timestamp)


class ContextQuery(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """`max_tokens` (billed) may lower the policy's limit, not raise it. `model` is the model that will read the context;
    default: the one that messages name. `system` is a system prompt that is not among the messages. `tools` are the
    request's tool definitions, in the provider's form; they count."""

    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    model: Identifier | None = None
    system: str | None = None
    current: CurrentMessage | None = None
    tools: tuple[dict[str, Any], ...] = ()


class ContextEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message, or a marker in place of removed messages: `... [15 messages removed] ...`.

    `tokens` are counted tokens. A message has its `importance` (0 to 1) and the `reason` why it stays, with `why` in words;
    an unpublished one has no position. A `shortened` message lacks the middle of its content or of its calls' arguments,
    with a note in its place.
    `mark` was set after it was sent. A marker stands for `count` messages from `position` on.
    """

    role: ShownRole
    content: str
    tokens: int
    position: int | None = None
    message_id: str | None = None
    timestamp: Moment | None = None
    importance: float | None = None
    reason: Reason | None = None
    why: str | None = None
    important: bool = False
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    count: int = 1
    shortened: bool = False
    mark: Mark | None = None


class OmittedMessage(Struct, frozen=True, kw_only=True):
    """A message of the conversation's context that this context omits, with the reason."""

    message_id: str
    position: int
    reason: Reason
    why: str


class ConversationContext(Struct, frozen=True, kw_only=True):
    """A context within its limit. `billed_tokens` estimates what the provider bills for a request with it: messages with
    their framing, markers, and tools (`tool_tokens`).

    `statistics` are those of this context. `left_out` messages had no room; `missing` messages of the conversation's context
    are no longer in the archive.
    """

    entries: tuple[ContextEntry, ...]
    tokens: int
    billed_tokens: int
    limit_tokens: int
    statistics: Statistics
    left_out: tuple[OmittedMessage, ...] = ()
    missing: int = 0
    tool_tokens: int = 0
