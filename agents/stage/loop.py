"""The outermost loop of every stage: retries temporary failures, and otherwise stops the worker."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Any

from schemas.errors import Retryable
from streams.delivery import cancellation
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch

log = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 15.0

Handle = Callable[[Batch], Awaitable[None]]


def serve(app: StageApp, channel: Any, handle: Handle) -> None:
    """Registers an agent on the channel. `handle` applies a batch or raises; it acks the batch, or its checkpoint does."""

    async def agent(stream: Any) -> None:
        async for event in stream.noack().events():
            await attempt(app, event.value, handle)

    app.agent(channel, name=f"{app.conf.id}-agent")(agent)


async def attempt(app: StageApp, batch: Batch, handle: Handle) -> None:
    """Handles a batch until it is done or its epoch is over. An unexpected error stops the worker without acking.

    It shuts the fence first: the stream continues with the next batch, whose commit would skip this one.
    """
    tries = 0
    while batch.current:
        try:
            await handle(batch)
            return
        except Retryable as exc:
            tries += 1
            log.warning("%s: attempt %d on %r failed, trying again: %s", app.conf.id, tries, batch, exc)
            await asyncio.sleep(pause_s(tries))
        except asyncio.CancelledError as exc:
            if cancellation.is_cancelling():
                raise
            await stop_worker(app, batch, exc)
            return
        except Exception as exc:  # noqa: BLE001 (stop_worker logs it)
            await stop_worker(app, batch, exc)
            return


async def stop_worker(app: StageApp, batch: Batch, error: BaseException) -> None:
    """Stops the worker. A CancelledError here was raised by a library: nobody requested it, and it must not end the worker
    silently."""
    app.fence.shut()
    if isinstance(error, asyncio.CancelledError):
        error = RuntimeError(f"handling {batch!r} was cancelled from within")
    log.error("%s: handling %r failed, stopping this worker", app.conf.id, batch, exc_info=error)
    await app.crash(error)


def pause_s(tries: int) -> float:
    """Exponential backoff with full jitter, in seconds (AWS architecture blog, "Exponential Backoff And Jitter", 2015)."""
    return random.uniform(FIRST_PAUSE_S, min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0**tries))
