"""Concurrent batches of a stage: each may wait for a model, and they are acked in any order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from agents.dead_letters.writer import position
from agents.stage.loop import pause_s, stop_worker
from schemas.errors import Retryable
from streams.delivery import cancellation
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch

log = logging.getLogger(__name__)

Work = Callable[[], Awaitable[object]]


class InFlight:
    """At most `most` batches at a time, waiting ones included. The frontier passes finished batches only."""

    def __init__(self, app: StageApp, most: int) -> None:
        self._app = app
        self._most = most
        self._running: set[asyncio.Task[None]] = set()

    async def start(self, batch: Batch, work: Work) -> None:
        """Starts the work once there is room, and returns. The batch is acked when the work ends; an error stops the worker
        without acking."""
        while len(self._running) >= self._most:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._run(batch, work), name=f"{self._app.conf.id} {batch!r}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        """Cancels running work: its batches are not held any more and are delivered again."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _run(self, batch: Batch, work: Work) -> None:
        try:
            await work()
        except asyncio.CancelledError as exc:
            if cancellation.is_cancelling():
                raise
            await stop_worker(self._app, batch, exc)
        except Exception as exc:  # noqa: BLE001 (stop_worker logs it)
            await stop_worker(self._app, batch, exc)
        else:
            batch.ack()


async def retry_while_held(batch: Batch, record: Any, work: Work) -> None:
    """Processes one record and retries temporary failures, until it is done or another worker has the batch."""
    tries = 0
    while batch.held:
        try:
            await work()
            return
        except Retryable as exc:
            tries += 1
            log.warning("attempt %d on the record at %s[%d]@%d failed: %s", tries, *position(record), exc)
            await asyncio.sleep(pause_s(tries))
