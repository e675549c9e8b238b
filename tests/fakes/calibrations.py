"""Calibrations in memory."""

import asyncio
from collections import deque
from collections.abc import Callable

from schemas.conversations.windows import Calibration
from sinks.postgres.connection import storable


class FakeCalibrations:
    """Each update takes `takes_s`; `failures` are raised by the next calls, one each, before anything is stored."""

    def __init__(self, takes_s: float = 0.0, failures: deque[Exception] | None = None) -> None:
        self.known: dict[str, Calibration] = {}
        self.failures = failures or deque()
        self.takes_s = takes_s
        self.lessons = 0

    async def all(self) -> dict[str, Calibration]:
        await self._raise_failure(0.0)
        return dict(self.known)

    async def learn(self, model: str, change: Callable[[Calibration], Calibration]) -> Calibration:
        self.lessons += 1
        await self._raise_failure(self.takes_s)
        key = storable(model)
        known = self.known.get(key, Calibration())
        learned = change(known)
        if learned != known:
            self.known[key] = learned
        return learned

    async def _raise_failure(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if self.failures:
            raise self.failures.popleft()
