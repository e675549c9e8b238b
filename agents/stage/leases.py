"""Renews leases while their holder works."""

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
    """Renews the lease in the background, for `lease_s` seconds each time; yields a function that says whether it still
    holds.

    By the worker's clock the lease ends no later than by the database's: `claimed_at` is from before the claim. `renew`
    returns whether it succeeded; its Retryable errors only cost time.
    """
    held_until = claimed_at + lease_s

    async def renew_repeatedly() -> None:
        nonlocal held_until
        while True:
            await asyncio.sleep(lease_s / 4)
            renewed_at = monotonic_s()
            try:
                held_until = renewed_at + lease_s if await renew() else 0.0
            except Retryable as exc:
                log.warning("renewing the lease of %s failed, trying again: %s", what, exc)

    renewing = asyncio.create_task(renew_repeatedly())
    try:
        yield lambda: monotonic_s() < held_until
    finally:
        renewing.cancel()


@contextlib.asynccontextmanager
async def ignore_retryable(what: str) -> AsyncIterator[None]:
    """Ignores Retryable errors while a lease is released: it ends by itself."""
    try:
        yield
    except Retryable as exc:
        log.warning("the lease of %s was not released and expires by itself: %s", what, exc)
