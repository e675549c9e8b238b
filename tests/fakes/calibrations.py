"""Calibrations in memory."""

import asyncio
from collections import deque
from collections.abc import Callable

from schemas.windows import Calibration


class FakeCalibrations:
    """Each lesson takes `takes_s`; `failures` are raised by the next ones, one each."""

    def __init__(self, takes_s: float = 0.0, failures: deque[Exception] | None = None) -> None:
        self.known: dict[str, Calibration] = {}
        self.failures = failures or deque()
        self.takes_s = takes_s
        self.lessons = 0

    async def learn(self, model: str, change: Callable[[Calibration], Calibration]) -> Calibration:
        self.lessons += 1
        await asyncio.sleep(self.takes_s)
        if self.failures:
            raise self.failures.popleft()
        self.known[model] = change(self.known.get(model, Calibration()))
        return self.known[model]
