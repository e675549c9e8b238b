"""Memory events read back from PostgreSQL in the order of `memory.events`, as long as versions are kept.

The sequence of a namespace has no gaps, and only an erasure deletes versions. Missing sequences therefore mean an erasure up to
there, which is returned in their place. It may have left earlier changes, those of other people in a shared namespace.
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
    """An event, and the sequence of its namespace that a reader has reached with it.

    A memory event, or `memstream.namespace.erased`: of the changes up to its `sequence`, some or all are erased.
    """

    sequence: int
    event: MemoryEvent | ActivityEvent


class EventHistory:
    """Reads the `memory_versions` table as events."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def heads(self, namespaces: Collection[str]) -> dict[str, int]:
        """The sequence of each namespace's latest change, 0 without one. Raises Retryable."""
        with translated("reading heads of namespaces"):
            rows = await self._reader.fetch(query("event_history", "heads"), list(map(storable, namespaces)))
        heads = {row["namespace"]: row["sequence"] for row in rows}
        return {each: heads.get(storable(each), 0) for each in namespaces}

    async def events_after(self, namespace: str, sequence: int, limit: int) -> tuple[RecordedEvent, ...]:
        """Events behind `sequence` in order, of at most `limit` changes; empty at the end. Raises Retryable."""
        with translated("reading memory events"):
            rows = await self._reader.fetch(query("event_history", "events_after"), namespace, sequence, limit)
        return tuple(recorded_events(namespace, sequence, rows, limit))


def recorded_events(
    namespace: str, sequence: int, rows: Sequence[asyncpg.Record], limit: int
) -> Iterator[RecordedEvent]:
    """The events of rows read at one moment, with an erasure before the first or behind the last where sequences are
    missing."""
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
