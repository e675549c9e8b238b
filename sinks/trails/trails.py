"""The traces of one message in PostgreSQL: archive, passages, extractions, settlements, usage and changes of memories."""

import asyncio
from collections.abc import Collection
from typing import Any, Final, TypeVar

from msgspec import Struct

from schemas.budgets.budgets import Lane
from schemas.codec import convert
from schemas.conversations.messages import Moment, Role
from schemas.memories.events import Cause
from schemas.memories.memories import Change
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query

MAX_EXTRACTIONS: Final = 20  # per message; a slice is requested again only after failures
MAX_CHANGES: Final = 200

T = TypeVar("T", bound=Struct)


class ArchivedTrace(Struct, frozen=True, kw_only=True):
    """The message in the archive, with its place in the topic."""

    role: Role
    partition: int
    position: int
    said_at: Moment
    archived_at: Moment


class PassageTrace(Struct, frozen=True, kw_only=True):
    """The message's passages in a namespace."""

    namespace: str
    pieces: int


class ExtractionTrace(Struct, frozen=True, kw_only=True):
    """A request whose slice contains the message; `under_way` while the model call runs."""

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
    """A parked request of the conversation."""

    request_id: str
    lane: Lane
    reason: str
    parked_at: Moment


class RulingTrace(Struct, frozen=True, kw_only=True):
    """The result of one candidate."""

    candidate_id: str
    result: str
    memory_id: str | None = None
    reason: str | None = None


class PartTrace(Struct, frozen=True, kw_only=True):
    """A settled part of an answer, for one namespace; a dropped part has no rulings."""

    request_id: str
    namespace: str
    status: str
    rulings: tuple[RulingTrace, ...] | None
    committed_at: Moment


class UsageTrace(Struct, frozen=True, kw_only=True):
    """The usage of a request's model calls."""

    request_id: str
    calls: int
    tokens: int
    cost_micros: int | None


class ChangeTrace(Struct, frozen=True, kw_only=True):
    """A change of a memory that has the message as a source."""

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
    """All traces of a message in PostgreSQL."""

    archived: ArchivedTrace
    passages: tuple[PassageTrace, ...]
    extractions: tuple[ExtractionTrace, ...]
    parked: tuple[ParkedTrace, ...]
    parts: tuple[PartTrace, ...]
    usage: tuple[UsageTrace, ...]
    changes: tuple[ChangeTrace, ...]


class Trails:
    """Reads traces. Raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, conversation_id: str, message_id: str) -> MessageTraces | None:
        """The traces of a message; None if it is not in the archive."""
        found = await self._rows("message", ArchivedTrace, conversation_id, message_id)
        if not found:
            return None
        (archived,) = found
        place = (conversation_id, archived.partition, archived.position)
        passages, extractions, parked, changes = await asyncio.gather(
            self._rows("passages", PassageTrace, conversation_id, message_id),
            self._rows("extractions", ExtractionTrace, *place, MAX_EXTRACTIONS),
            self._rows("parked", ParkedTrace, conversation_id, MAX_EXTRACTIONS),
            self._rows("changes", ChangeTrace, conversation_id, message_id, MAX_CHANGES),
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
        with translated("reading the traces of a message"):
            rows = await self._pool.fetch(query("trails", statement), *values)
        return tuple(convert(dict(row), shape) for row in rows)


def fed_by(extractions: Collection[ExtractionTrace]) -> list[str]:
    return sorted({namespace for each in extractions for namespace in each.namespaces})
