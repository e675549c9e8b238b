"""Queues by key: places of one key are served in order, those of different keys do not wait for each other."""

import asyncio
from types import TracebackType


class QueuePlace:
    """A place in a queue. Wait for it with `async with`, which must be entered exactly once."""

    def __init__(self, queues: "KeyQueues", key: bytes, before: "QueuePlace | None") -> None:
        self._queues = queues
        self._key = key
        self._before = before
        self._over = asyncio.Event()

    async def __aenter__(self) -> None:
        """Waits for all earlier places of the queue."""
        if self._before is None:
            return
        try:
            await self._before._over.wait()
        except asyncio.CancelledError:
            self._leave()
            raise
        self._before = None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        self._over.set()
        self._queues.leave(self._key, self)


class KeyQueues:
    """The last place of each non-empty queue."""

    def __init__(self) -> None:
        self._last: dict[bytes, QueuePlace] = {}

    def next(self, key: bytes) -> QueuePlace:
        """Takes the next place in the queue of a key."""
        place = self._last[key] = QueuePlace(self, key, self._last.get(key))
        return place

    def leave(self, key: bytes, place: QueuePlace) -> None:
        if self._last.get(key) is place:
            del self._last[key]
