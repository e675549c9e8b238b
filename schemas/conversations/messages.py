"""Input from chat services: messages and ends of conversations.

Shapes that windows hold by the hundred thousand rely on reference counting (`gc=False`): they have no cycles, and a garbage
collection of them stopped a busy worker for half a second.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

Identifier = Annotated[str, Meta(min_length=1, max_length=256)]
Moment = Annotated[datetime, Meta(tz=True)]
FIRST_STORABLE, LAST_STORABLE = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)

Role = Literal["user", "assistant", "system", "tool"]


class ToolCall(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A tool call of the assistant; the tool's message refers to it by `tool_call_id`."""

    id: Identifier
    name: Identifier
    arguments: Any = None


class Message(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One message of a conversation, as published to `chat.messages` with the key `conversation_id`."""

    conversation_id: Identifier
    message_id: Identifier
    role: Role
    timestamp: Moment
    content: str = ""
    tenant_id: Identifier | None = None
    app_id: Identifier | None = None
    user_id: Identifier | None = None
    agent_id: Identifier | None = None
    mode: Identifier | None = None
    name: Identifier | None = None
    model: Identifier | None = None
    time_zone: Identifier | None = None
    language: Identifier | None = None
    important: bool = False
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: Identifier | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_plausible(self.timestamp)


class ConversationEnded(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The end of a conversation, as published to `chat.conversations.ended` with the key `conversation_id`.

    With `last_message_id` or `message_count`, memstream waits for a bounded time for messages that have not arrived.
    """

    conversation_id: Identifier
    timestamp: Moment
    reason: str | None = None
    last_message_id: Identifier | None = None
    message_count: Annotated[int, Meta(ge=0)] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_plausible(self.timestamp)


class Scope(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The fields of a conversation's messages that policies match on and namespaces are derived from."""

    conversation_id: Identifier
    tenant_id: str | None = None
    app_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    mode: str | None = None

    @classmethod
    def of(cls, message: Message) -> "Scope":
        return cls(
            conversation_id=message.conversation_id,
            tenant_id=message.tenant_id,
            app_id=message.app_id,
            user_id=message.user_id,
            agent_id=message.agent_id,
            mode=message.mode,
        )


def require_plausible(moment: datetime) -> None:
    """Raises ValueError for a time that must be a mistake (seconds as milliseconds, year 1) and that date arithmetic cannot
    handle."""
    if not EARLIEST <= moment < LATEST:
        raise ValueError(f"timestamp {moment.isoformat()} does not lie between {EARLIEST.year} and {LATEST.year}")


def is_storable(moment: datetime) -> bool:
    """Whether the time exists in UTC and PostgreSQL returns it unchanged, which does not hold for every date with an offset."""
    return FIRST_STORABLE <= moment < LAST_STORABLE


def require_storable(*moments: object) -> None:
    """Raises ValueError for a time that cannot be stored; ignores None and unset values."""
    for moment in moments:
        if isinstance(moment, datetime) and not is_storable(moment):
            raise ValueError(f"{moment.isoformat()} does not lie between the years 1 and 9999 of UTC")
