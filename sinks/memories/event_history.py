"""Memory events read back from PostgreSQL: what `memory.events` said, in its order, for as long as the versions are kept.

A namespace's sequence has no gaps and its versions are removed only with all of it. So where sequences are missing, the
namespace was erased up to there, and that is told in their place.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import asyncpg
from msgspec import Struct

from schemas import ids
from schemas.codec import convert
from schemas.memories.events import ActivityEvent, Cause, MemoryEvent
from schemas.memories.memories import Memory
from sinks.memories.reader import Reader
from sinks.memories.writer import memory_changed
from sinks.postgres.connection import storable, translated
from sinks.postgres.queries import query

ERASED = "memstream.namespace.erased"


class RecordedEvent(Struct, frozen=True):
    """An event, and the sequence of its namespace with which everything up to it is known.

    A memory event, or one of type `memstream.namespace.erased`: of what was told up to its `sequence` nothing is left.
    """

    sequence: int
    event: MemoryEvent | ActivityEvent


class EventHistory:
    """The `memory_versions` table, read as the events that it was told by."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def heads(self, namespaces: Collection[str]) -> dict[str, int]:
        """The sequence of each namespace's latest change, 0 before the first. Raises Retryable."""
        with translated("asking how far namespaces are"):
            rows = await self._reader.fetch(query("event_history", "heads"), list(map(storable, namespaces)))
        heads = {row["namespace"]: row["sequence"] for row in rows}
        return {each: heads.get(storable(each), 0) for each in namespaces}

    async def events_after(self, namespace: str, sequence: int, limit: int) -> tuple[RecordedEvent, ...]:
        """What happened behind `sequence`, in order: that of at most `limit` changes. Empty at the end. Raises Retryable."""
        with translated("reading events back"):
            rows = await self._reader.fetch(query("event_history", "events_after"), namespace, sequence, limit)
        return tuple(recorded_events(namespace, sequence, rows, limit))


def recorded_events(
    namespace: str, sequence: int, rows: Sequence[asyncpg.Record], limit: int
) -> Iterator[RecordedEvent]:
    """Of rows of one moment: each change, and before it, or behind the last, the erasure that its place speaks of."""
    known, changes = sequence, [row for row in rows if row["sequence"] is not None]
    for row in changes:
        if row["sequence"] > known + 1:
            yield erased(namespace, row["sequence"] - 1, row["purged_at"])
        known = row["sequence"]
        yield RecordedEvent(known, event(row))
    if rows and len(changes) < limit and rows[0]["head"] > known:
        yield erased(namespace, rows[0]["head"], rows[0]["purged_at"])


def event(row: Any) -> MemoryEvent:
    before = None if row["before"] is None else convert(row["before"], Memory)
    after, cause = convert(row["after"], Memory), convert(row["cause"], Cause)
    return MemoryEvent.of(memory_changed(row["change"], before, after, cause), row["at"])


def erased(namespace: str, sequence: int, at: datetime) -> RecordedEvent:
    data = {"namespace": namespace, "sequence": sequence}
    return RecordedEvent(
        sequence,
        ActivityEvent(
            id=ids.activity_id("erased", namespace, sequence), type=ERASED, time=at, subject=namespace, data=data
        ),
    )
