"""Results of the agent tools for models: short, without fields that only programs need."""

from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agents.retrieval.ranking import last_said_at
from schemas.extraction import importance
from schemas.memories.memories import Change, Memory, Status
from schemas.passages.passages import Passage
from schemas.retrieval.searches import SaidHit

FULL_TEXT_HINT: Final = "get_memory with full=true returns the full text"


class MemoryResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A memory. `kinds` are its further kinds; `importance` is from 0 to 1, `importance_points` the same in points.
    `said_on` is the day of its latest source message. A memory that is no longer valid has a `status` and `until`, the
    end of its validity. `told_by` are the users who said it; if no user said it, `attributed_to` names the speaker."""

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


class AdjacentMessage(Struct, frozen=True, kw_only=True):
    """A message directly before or after another one, word for word."""

    speaker: str
    text: str
    message_id: str


class Quote(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A passage of a message, word for word. `before` and `after` are adjacent messages that it needs to be understood."""

    said_at: datetime
    speaker: str
    text: str
    conversation_id: str
    message_id: str
    namespace: str
    before: tuple[AdjacentMessage, ...] = ()
    after: tuple[AdjacentMessage, ...] = ()


class SearchResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Hits of each tier, best first. `partial` is true if a part of the search was unavailable, so there may be more."""

    memories: tuple[MemoryResult, ...]
    said: tuple[Quote, ...] = ()
    partial: bool = False


class ReadResult(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One memory, and its source passages."""

    memory: MemoryResult
    said: tuple[Quote, ...] = ()


class CreateResult(Struct, frozen=True, kw_only=True):
    """A stored memory. `change` is `created`, or `reinforced` if it existed already."""

    memory_id: str
    change: Change


class DeleteResult(Struct, frozen=True, kw_only=True):
    """A deleted memory. People can restore it."""

    memory_id: str
    deleted: bool = True


class ContextResult(Struct, frozen=True, kw_only=True):
    """The profile and a context block as one text, empty if nothing is known, and the ids of the memories in it."""

    context: str
    memory_ids: tuple[str, ...]


class PendingResult(Struct, frozen=True, kw_only=True):
    """A change without an outcome yet. `ask` is the API path of the outcome, for programs."""

    command_id: str
    ask: str
    note: str = "The memory will be created in a moment. Do not create it again."


def memory_result(memory: Memory, *, full: bool = False) -> MemoryResult:
    return MemoryResult(
        memory_id=memory.memory_id,
        namespace=memory.namespace,
        kind=memory.kind,
        text=memory.text,
        kinds=memory.kinds,
        importance=round(memory.importance, 2),
        importance_points=importance.points(memory.importance),
        version=memory.version,
        said_on=last_said_at(memory).date().isoformat(),
        tags=memory.tags,
        context=memory.context,
        attributed_to=memory.attributed_to,
        told_by=memory.told_by,
        happens_at=memory.event_time,
        status=memory.status,
        until=memory.valid_until,
        more=FULL_TEXT_HINT if memory.full_text and not full else "",
        full_text=memory.full_text if full else None,
    )


def quoted_hit(hit: SaidHit) -> Quote:
    """Returns a passage with its neighbours."""
    own = hit.passage.ordinal
    return replace(
        quote(hit.passage),
        before=tuple(adjacent_message(each) for each in hit.neighbours if each.ordinal < own),
        after=tuple(adjacent_message(each) for each in hit.neighbours if each.ordinal > own),
    )


def adjacent_message(passage: Passage) -> AdjacentMessage:
    return AdjacentMessage(speaker=passage.said_by, text=passage.text, message_id=passage.message_id)


def quote(passage: Passage) -> Quote:
    return Quote(
        said_at=passage.said_at,
        speaker=passage.said_by,
        text=passage.text,
        conversation_id=passage.conversation_id,
        message_id=passage.message_id,
        namespace=passage.namespace,
    )
