"""Queues by key: whoever took a place earlier comes first, and those of different keys do not wait for each other."""

import asyncio
from types import TracebackType


class QueuePlace:
    """One place in a queue, to be waited for in an `async with`, which must be entered once."""

    def __init__(self, turns: "KeyQueues", key: bytes, before: "QueuePlace | None") -> None:
        self._turns = turns
        self._key = key
        self._before = before
        self._over = asyncio.Event()

    async def __aenter__(self) -> None:
        """Returns when everybody who stood before is done."""
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
        self._turns.left(self._key, self)


class KeyQueues:
    """The last place of each queue that somebody stands in."""

    def __init__(self) -> None:
        self._last: dict[bytes, QueuePlace] = {}

    def next(self, key: bytes) -> QueuePlace:
        """The next place in the queue of a key, taken at once."""
        turn = self._last[key] = QueuePlace(self, key, self._last.get(key))
        return turn

    def left(self, key: bytes, turn: QueuePlace) -> None:
        if self._last.get(key) is turn:
            del self._last[key]
