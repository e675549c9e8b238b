"""Counts searches and context requests per namespace, and how many found something; writes the counts in batches."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final, Protocol

from sinks.memories.retrieval_counts import Counted, Counts, Operation

MAX_COUNTS: Final = 100_000  # unwritten counts kept while PostgreSQL is unavailable


class CountStore(Protocol):
    """Stores retrieval counts (sinks.memories.retrieval_counts.RetrievalCounts). Raises Retryable."""

    async def add(self, counted: Mapping[Counted, Counts]) -> None: ...


class RetrievalCounter:
    """One instance per process. Counts are approximate: a crash loses the counts that are not written yet."""

    def __init__(self, store: CountStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._pending: dict[Counted, Counts] = {}

    def note(self, operation: Operation, namespaces: Iterable[str], found: bool) -> None:
        """Counts a retrieval in each of the namespaces. Does no I/O."""
        day = self._clock().astimezone(UTC).date()
        for namespace in namespaces:
            self._add((namespace, day, operation), (1, int(found)))

    async def flush(self) -> None:
        """Writes the counts. Raises Retryable and keeps the counts that it could not write."""
        pending, self._pending = self._pending, {}
        if not pending:
            return
        try:
            await self._store.add(pending)
        except BaseException:
            for key, counts in pending.items():
                self._add(key, counts)
            raise

    def _add(self, key: Counted, counts: Counts) -> None:
        if key in self._pending or len(self._pending) < MAX_COUNTS:
            total, found = self._pending.get(key, (0, 0))
            self._pending[key] = (total + counts[0], found + counts[1])
