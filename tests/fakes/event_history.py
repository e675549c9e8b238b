"""Generated memory events of each namespace, without PostgreSQL."""

from collections.abc import Collection
from datetime import UTC, datetime

from schemas.errors import Retryable
from schemas.memories.events import MemoryEvent
from sinks.memories.event_history import RecordedEvent, erased

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FakeEventHistory:
    """`heads` is the number of events by namespace; the next `away` calls fail; `calls` counts calls. All events except
    those of `events` are erasures."""

    def __init__(self, **heads: int) -> None:
        self.at = heads
        self.away = 0
        self.calls = 0
        self.events: dict[tuple[str, int], MemoryEvent] = {}

    async def heads(self, namespaces: Collection[str]) -> dict[str, int]:
        return {namespace: self.at.get(namespace, 0) for namespace in namespaces}

    async def events_after(self, namespace: str, sequence: int, limit: int) -> tuple[RecordedEvent, ...]:
        self.calls += 1
        if self.away:
            self.away -= 1
            raise Retryable("Postgres is away")
        last = min(self.at.get(namespace, 0), sequence + limit)
        return tuple(self._event(namespace, number) for number in range(sequence + 1, last + 1))

    def _event(self, namespace: str, number: int) -> RecordedEvent:
        event = self.events.get((namespace, number))
        return RecordedEvent(number, event) if event else erased(namespace, number, NOON)
