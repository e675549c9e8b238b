"""Time under the test's control: an event loop whose clock jumps to the next timer, and a clock that is set by hand."""

import asyncio
import selectors
from datetime import UTC, datetime, timedelta

START_S = 1_800_000_000.0  # Unix seconds of the virtual loop's beginning


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: when nothing is ready, the time that was to be waited has passed."""

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
    """An event loop in which an hour's sleep takes no time and happens in the right order."""

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
    """Stands still until it is told otherwise."""

    def __init__(self, now_s: float = START_S) -> None:
        self.now_s = now_s

    def __call__(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> float:
        self.now_s += seconds
        return self.now_s


async def settled(turns: int = 50) -> None:
    """Lets everything run that can run without time passing."""
    for _ in range(turns):
        await asyncio.sleep(0)


def pytest_asyncio_loop_factories(config, item):
    """A hook: a `conftest.py` that imports it lets the tests of its folder run in virtual time."""
    return {"virtual-time": VirtualLoop}
