"""What agent tools answer, as a model reads it: short, without what only programs need."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from agents.retrieval.ranking import said
from schemas.memories import importance
from schemas.memories.memories import Change, Memory, Status
from schemas.passages.passages import Passage

HAS_MORE: Final = "get_memory with full=true tells more"


class Seen(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory, with its further `kinds`, and its importance from 0 to 1 and in points. `said_on` is the day it was last
    said; what holds no longer has a `status`, and `until` when it held. `told_by` are the users who told it; what no user said
    is `attributed_to` who did."""

    memory_id: str
    namespace: str
    kind: str
    text: str
    importance: float
    importance_points: int
    version: int
    said_on: str
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    context: str | None = None
    attributed_to: str | None = None
    told_by: tuple[str, ...] = ()
    happens_at: datetime | None = None
    status: Status = "active"
    until: datetime | None = None
    more: str = ""
    full_text: str | None = None


class Quote(Struct, frozen=True, kw_only=True):
    """What was said, word for word."""

    said_at: datetime
    speaker: str
    text: str
    conversation_id: str
    message_id: str
    namespace: str


class Searched(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The best first in each. `partial`: something was out of reach, and there may be more."""

    memories: tuple[Seen, ...]
    said: tuple[Quote, ...] = ()
    partial: bool = False


class Read(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, and what was said that it comes from."""

    memory: Seen
    said: tuple[Quote, ...] = ()


class Kept(Struct, frozen=True, kw_only=True):
    """`change` is `created`, or `reinforced` where it was known already."""

    memory_id: str
    change: Change


class Deleted(Struct, frozen=True, kw_only=True):
    """It is forgotten; people can bring it back."""

    memory_id: str
    deleted: bool = True


class Context(Struct, frozen=True, kw_only=True):
    """The profile and a block for the prompt, empty when there is nothing to tell, and the memories that they tell of."""

    context: str
    memory_ids: tuple[str, ...]


class Waiting(Struct, frozen=True, kw_only=True):
    """It was not carried out in time, and will be; `ask` is where the HTTP API tells what came of it, for programs."""

    command_id: str
    ask: str
    note: str = "It will be remembered in a moment. Do not create it again."


def seen(memory: Memory, *, full: bool = False) -> Seen:
    return Seen(
        memory_id=memory.memory_id,
        namespace=memory.namespace,
        kind=memory.kind,
        text=memory.text,
        kinds=memory.kinds,
        importance=round(memory.importance, 2),
        importance_points=importance.points(memory.importance),
        version=memory.version,
        said_on=said(memory).date().isoformat(),
        tags=memory.tags,
        context=memory.context,
        attributed_to=memory.attributed_to,
        told_by=memory.told_by,
        happens_at=memory.event_time,
        status=memory.status,
        until=memory.valid_until,
        more=HAS_MORE if memory.full_text and not full else "",
        full_text=memory.full_text if full else None,
    )


def quote(passage: Passage) -> Quote:
    return Quote(
        said_at=passage.said_at,
        speaker=passage.said_by,
        text=passage.text,
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        namespace=passage.namespace,
    )
