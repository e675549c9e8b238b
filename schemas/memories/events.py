"""CloudEvents 1.0 that memstream publishes: memory events (one per change) and activity events."""

from typing import Any, Literal

from msgspec import Struct

from schemas import ids
from schemas.conversations.messages import Moment
from schemas.memories.memories import Change, Memory

SOURCE = "memstream"
CONTENT_TYPE = "application/cloudevents+json"
CLOUD_EVENT = (("content-type", CONTENT_TYPE.encode()),)  # headers of a record with a CloudEvent


class MessageId(Struct, frozen=True, kw_only=True):
    """A message by its conversation and its id there."""

    conversation_id: str
    message_id: str


class Cause(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who changed a memory, and why: a candidate of a request, a user's wish to have it forgotten, or a command.

    `erased` is set for an erasure of the memory with its namespace, or with conversations that it came from. A memory that was
    erased alone has its source `messages` instead, at most 1,000; search finds them if `messages_kept`. A wish was said in the
    message `message_id` of `conversation_id`; `said_again` are messages that the wish means, and others of the same user that
    say the forgotten thing too: they leave search with it.
    """

    actor: str
    candidate_id: str | None = None
    wish_id: str | None = None
    request_id: str | None = None
    command_id: str | None = None
    reason: str | None = None
    erased: Literal["namespace", "conversations"] | None = None
    conversation_id: str | None = None
    message_id: str | None = None
    said_again: tuple[MessageId, ...] = ()
    messages: tuple[MessageId, ...] = ()
    messages_kept: bool = False


class MemoryChanged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of a memory event; `sequence` counts per namespace, from 1, without gaps.

    `before` is the memory before the change; it is absent for deleted and erased memories, whose contents are not published
    again.
    """

    change: Change
    namespace: str
    sequence: int
    memory: Memory
    cause: Cause
    before: Memory | None = None


class MemoryEvent(Struct, frozen=True, kw_only=True):
    """A change of a memory, as a structured CloudEvent."""

    id: str
    type: str
    time: Moment
    subject: str
    data: MemoryChanged
    specversion: Literal["1.0"] = "1.0"
    source: str = SOURCE
    datacontenttype: str = "application/json"

    @classmethod
    def of(cls, changed: MemoryChanged, time: Moment) -> "MemoryEvent":
        return cls(
            id=ids.event_id(changed.namespace, changed.sequence),
            type=f"memstream.memory.{changed.change}",
            time=time,
            subject=changed.memory.memory_id,
            data=changed,
        )


class ActivityEvent(Struct, frozen=True, kw_only=True):
    """Completed work, as a structured CloudEvent; `subject` is the conversation or the namespace."""

    id: str
    type: str
    time: Moment
    subject: str
    data: dict[str, Any]
    specversion: Literal["1.0"] = "1.0"
    source: str = SOURCE
    datacontenttype: str = "application/json"
