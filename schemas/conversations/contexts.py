"""What a model is shown of a conversation: what is asked for, and the context that is answered."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from schemas.conversations.adjustments import Mark
from schemas.conversations.messages import Identifier, Moment, Role, ToolCall, require_plausible
from schemas.conversations.windows import Reason, Statistics

ShownRole = Role | Literal["marker"]


class CurrentMessage(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The message that is to be answered. With its `message_id` it is not shown twice once it has been published."""

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
    """`max_tokens` (billed ones) may make a context smaller than the policy allows, and never larger. `model` is the one that
    will read it, by default the one that messages name. `system` is a system prompt that is not among the messages. `tools` are
    the definitions of the tools that go with the request, as its provider takes them: they count."""

    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    model: Identifier | None = None
    system: str | None = None
    current: CurrentMessage | None = None
    tools: tuple[dict[str, Any], ...] = ()


class ContextEntry(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A message as it was said, or a marker where others were: `... [15 messages removed] ...`.

    `tokens` are counted ones. A message has its `importance`, from 0 to 1, and the `reason` why it stays, which `why` says in
    words; one that is not published yet has no position. Of a `shortened` one the middle of the content is left out, with a mark
    that says how much. `mark` is what it was made after it was sent.
    A marker stands for `count` messages at positions from `position` on.
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
    """A message that is not in this context, though it is in the conversation's, and why."""

    message_id: str
    position: int
    reason: Reason
    why: str


class ConversationContext(Struct, frozen=True, kw_only=True):
    """A context within its limit. `billed_tokens` are what the model's provider is expected to bill for a request with it:
    messages with their frames, markers, and tools, which take `tool_tokens` of them.

    `statistics` are those of this context. `left_out` had no room in it; `missing` messages that are in the conversation's
    context are not in the archive any more.
    """

    entries: tuple[ContextEntry, ...]
    tokens: int
    billed_tokens: int
    limit_tokens: int
    statistics: Statistics
    left_out: tuple[OmittedMessage, ...] = ()
    missing: int = 0
    tool_tokens: int = 0
