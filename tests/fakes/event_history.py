"""So many happenings in each namespace, without PostgreSQL."""

from collections.abc import Collection
from datetime import UTC, datetime

from schemas.errors import Retryable
from sinks.memories.event_history import RecordedEvent, erased

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class FakeEventHistory:
    """`heads` says how many; `away` times it cannot be reached; `asked` counts the looks."""

    def __init__(self, **heads: int) -> None:
        self.at = heads
        self.away = 0
        self.asked = 0

    async def heads(self, namespaces: Collection[str]) -> dict[str, int]:
        return {namespace: self.at.get(namespace, 0) for namespace in namespaces}

    async def events_after(self, namespace: str, sequence: int, limit: int) -> tuple[RecordedEvent, ...]:
        self.asked += 1
        if self.away:
            self.away -= 1
            raise Retryable("Postgres is away")
        last = min(self.at.get(namespace, 0), sequence + limit)
        return tuple(erased(namespace, number, NOON) for number in range(sequence + 1, last + 1))
