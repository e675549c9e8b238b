"""Periodic background tasks of a process."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from schemas.errors import Rejected, Retryable

log = logging.getLogger(__name__)

PeriodicTask = Callable[[], Awaitable[object]]


class PeriodicTasks:
    """Runs each task from when it is added until all are stopped."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    def add(self, name: str, interval_s: float, task: PeriodicTask) -> None:
        self.watch(asyncio.create_task(repeat(name, interval_s, task)))

    def watch(self, task: asyncio.Task[None]) -> None:
        """Watches and stops a task that may also end by itself."""
        self._tasks.append(task)

    def raise_if_failed(self) -> None:
        """Raises the error of a failed task, if any."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def repeat(name: str, interval_s: float, task: PeriodicTask) -> None:
    """Repeats a task. Temporary failures, and Rejected ones of single rows, are logged and retried at the next turn: they
    would stop one worker after the other."""
    while True:
        await asyncio.sleep(interval_s)
        try:
            await task()
        except Retryable as exc:
            log.warning("%s: %s", name, exc)
        except Rejected as exc:
            log.error("%s: %s", name, exc)
