"""What a worker does again and again beside its stages."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from schemas.errors import Rejected, Retryable

log = logging.getLogger(__name__)

Chore = Callable[[], Awaitable[object]]


class PeriodicTasks:
    """Each in a task of its own, from when it is added until all are stopped."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def add(self, name: str, interval_s: float, chore: Chore) -> None:
        self.watch(asyncio.create_task(repeat(name, interval_s, chore)))

    def watch(self, task: asyncio.Task[None]) -> None:
        """For work that is to be watched and stopped with them, and may end."""
        self._tasks.append(task)

    def raise_if_failed(self) -> None:
        """Raises what ended one of them, if one has failed."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def repeat(name: str, interval_s: float, chore: Chore) -> None:
    """Does a chore again and again. What may pass is logged and tried at the next turn, and so is what one row alone is at fault
    for: it would stop every worker, one after the other."""
    while True:
        await asyncio.sleep(interval_s)
        try:
            await chore()
        except Retryable as exc:
            log.warning("%s: %s", name, exc)
        except Rejected as exc:
            log.error("%s: %s", name, exc)
