"""CloudEvents 1.0 that memstream publishes: memory events (one per change) and activity events (about work)."""

from typing import Any, Literal

from msgspec import Struct

from schemas import ids
from schemas.conversations.messages import Moment
from schemas.memories.memories import Change, Memory

SOURCE = "memstream"
CONTENT_TYPE = "application/cloudevents+json"
CLOUD_EVENT = (("content-type", CONTENT_TYPE.encode()),)  # the headers of a record that holds one


class Cause(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who changed a memory and on account of what: a candidate of a request, a user's wish in one to have it forgotten, or a
    command.

    `erased` is said where it was erased: with its whole namespace, or alone, with conversations that it came from. A wish was
    said in the message `message_id` of `conversation_id`.
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


class MemoryChanged(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The data of a memory event; `sequence` is per namespace, from 1, without gaps.

    `before` is the memory as it was, but of what is deleted or erased: its content is not told again.
    """

    change: Change
    namespace: str
    sequence: int
    memory: Memory
    cause: Cause
    before: Memory | None = None


class MemoryEvent(Struct, frozen=True, kw_only=True):
    """A change of a memory as a structured CloudEvent."""

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
    """Work that was done, as a structured CloudEvent; `subject` is the conversation or the namespace."""

    id: str
    type: str
    time: Moment
    subject: str
    data: dict[str, Any]
    specversion: Literal["1.0"] = "1.0"
    source: str = SOURCE
    datacontenttype: str = "application/json"
