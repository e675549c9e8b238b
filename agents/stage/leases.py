"""Holding on to what was claimed under a lease while it is worked on."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from schemas.errors import Retryable

log = logging.getLogger(__name__)

StillHeld = Callable[[], bool]


@contextlib.asynccontextmanager
async def renewed_lease(
    what: str, renew: Callable[[], Awaitable[bool]], lease_s: float, claimed_at: float, monotonic_s: Callable[[], float]
) -> AsyncIterator[StillHeld]:
    """Has the lease renewed, for `lease_s` each time, and says whether it still holds.

    By the worker's own clock it ends no later than by the database's: `claimed_at` is from before the claim. `renew` says
    whether it was renewed; what it raises as Retryable costs time only.
    """
    held_until = claimed_at + lease_s

    async def keep_on() -> None:
        nonlocal held_until
        while True:
            await asyncio.sleep(lease_s / 4)
            asked_at = monotonic_s()
            try:
                held_until = asked_at + lease_s if await renew() else 0.0
            except Retryable as exc:
                log.warning("the lease of %s could not be renewed, trying again: %s", what, exc)

    renewing = asyncio.create_task(keep_on())
    try:
        yield lambda: monotonic_s() < held_until
    finally:
        renewing.cancel()


@contextlib.asynccontextmanager
async def ignore_retryable(what: str) -> AsyncIterator[None]:
    """For giving a lease back: what fails here costs time only, as the lease ends by itself."""
    try:
        yield
    except Retryable as exc:
        log.warning("the lease of %s ends by itself: %s", what, exc)
