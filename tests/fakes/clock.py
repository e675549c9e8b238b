"""Virtual time: an event loop that jumps to the next timer, and a clock that tests set."""

import asyncio
import selectors
from datetime import UTC, datetime, timedelta

START_S = 1_800_000_000.0  # Unix seconds of the virtual loop's beginning


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: if nothing is ready, time advances to the next timer."""

    now_s = 0.0

    def select(self, timeout: float | None = None):
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise RuntimeError("deadlock: every task waits, and no timer is left that could wake one")
        self.now_s += max(timeout, 1e-6)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which sleeping takes no real time, in the right order."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now_s


def unix_s() -> float:
    """Unix seconds by the running loop's clock."""
    return START_S + asyncio.get_running_loop().time()


def utc() -> datetime:
    return datetime.fromtimestamp(START_S, UTC) + timedelta(seconds=asyncio.get_running_loop().time())


class Clock:
    """A clock that only advances when told."""

    def __init__(self, now_s: float = START_S) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> float:
        self.now_s += seconds
        return self.now_s


async def settled(turns: int = 50) -> None:
    """Runs everything that is ready without advancing time."""
    for _ in range(turns):
        await asyncio.sleep(0)


def pytest_asyncio_loop_factories(config, item):
    """A hook: the tests in the folder of a `conftest.py` that imports it run in virtual time."""
    return {"virtual-time": VirtualLoop}
