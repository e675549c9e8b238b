"""The traces of one message in PostgreSQL: archive, passages, extractions, settlements, usage and changes of memories."""

import asyncio
from collections.abc import Collection
from typing import Any, Final, TypeVar

from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment, Role
from schemas.extraction.requests import Lane
from schemas.memories.events import Cause
from schemas.memories.memories import Change
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query

MOST_EXTRACTIONS: Final = 20  # of one message; a slice is asked for once, and again only after failures
MOST_CHANGES: Final = 200

T = TypeVar("T", bound=Struct)


class ArchivedTrace(Struct, frozen=True, kw_only=True):
    """The message, by its place in the topic."""

    role: Role
    partition: int
    position: int
    said_at: Moment
    archived_at: Moment


class PassageTrace(Struct, frozen=True, kw_only=True):
    """The message as passages of a namespace."""

    namespace: str
    pieces: int


class ExtractionTrace(Struct, frozen=True, kw_only=True):
    """A request whose slice holds the message; `under_way` while a model is asked."""

    request_id: str
    policy: str
    policy_version: int
    namespaces: tuple[str, ...]
    requested_at: Moment
    stored_at: Moment | None
    completed_at: Moment | None
    failed_at: Moment | None
    failed_reason: str | None
    provider: str | None
    model: str | None
    proposals: int
    under_way: bool


class ParkedTrace(Struct, frozen=True, kw_only=True):
    """A request of the conversation that waits for long."""

    request_id: str
    lane: Lane
    reason: str
    parked_at: Moment


class RulingTrace(Struct, frozen=True, kw_only=True):
    """What came of one candidate."""

    candidate_id: str
    result: str
    memory_id: str | None = None
    reason: str | None = None


class PartTrace(Struct, frozen=True, kw_only=True):
    """A namespace's part of an answer, decided; one that was dropped has no rulings."""

    request_id: str
    namespace: str
    status: str
    rulings: tuple[RulingTrace, ...] | None
    committed_at: Moment


class UsageTrace(Struct, frozen=True, kw_only=True):
    """What a request was billed."""

    request_id: str
    calls: int
    tokens: int
    cost_micros: int | None


class ChangeTrace(Struct, frozen=True, kw_only=True):
    """A change of a memory that names the message as a source."""

    memory_id: str
    version: int
    namespace: str
    change: Change
    at: Moment
    cause: Cause
    text: str | None
    sequence: int
    published: bool


class MessageTraces(Struct, frozen=True, kw_only=True):
    """All that PostgreSQL knows of a message."""

    archived: ArchivedTrace
    passages: tuple[PassageTrace, ...]
    extractions: tuple[ExtractionTrace, ...]
    parked: tuple[ParkedTrace, ...]
    parts: tuple[PartTrace, ...]
    usage: tuple[UsageTrace, ...]
    changes: tuple[ChangeTrace, ...]


class Trails:
    """Raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, conversation_id: str, message_id: str) -> MessageTraces | None:
        """None for a message that is not in the archive."""
        found = await self._rows("message", ArchivedTrace, conversation_id, message_id)
        if not found:
            return None
        (archived,) = found
        place = (conversation_id, archived.partition, archived.position)
        passages, extractions, parked, changes = await asyncio.gather(
            self._rows("passages", PassageTrace, conversation_id, message_id),
            self._rows("extractions", ExtractionTrace, *place, MOST_EXTRACTIONS),
            self._rows("parked", ParkedTrace, conversation_id, MOST_EXTRACTIONS),
            self._rows("changes", ChangeTrace, conversation_id, message_id, MOST_CHANGES),
        )
        requests = [each.request_id for each in extractions]
        parts, usage = await asyncio.gather(
            self._rows("parts", PartTrace, requests), self._rows("usage", UsageTrace, requests, fed_by(extractions))
        )
        return MessageTraces(
            archived=archived,
            passages=passages,
            extractions=extractions,
            parked=parked,
            parts=parts,
            usage=usage,
            changes=changes,
        )

    async def _rows(self, statement: str, shape: type[T], *values: Any) -> tuple[T, ...]:
        with translated("following a message"):
            rows = await self._pool.fetch(query("trails", statement), *values)
        return tuple(convert(dict(row), shape) for row in rows)


def fed_by(extractions: Collection[ExtractionTrace]) -> list[str]:
    return sorted({namespace for each in extractions for namespace in each.namespaces})
