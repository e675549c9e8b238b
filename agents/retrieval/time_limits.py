"""Asking what search can do without: for so long and no longer, and not again at once when it took too long."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from msgspec import Struct

from schemas.errors import MemstreamError
from schemas.retrieval.searches import Degraded

T = TypeVar("T")

WITHIN_S: Final = 2.0
REST_S: Final = 5.0  # after it took too long: meanwhile nobody waits for it

log = logging.getLogger(__name__)


class Answered(Struct, Generic[T], frozen=True):
    """What was asked for, or why there is none."""

    value: T | None = None
    degraded: tuple[Degraded, ...] = ()


class Bounded:
    """One of the parts: `slow` and `failed` say in an answer that it was missing."""

    def __init__(self, slow: Degraded, failed: Degraded, *, within_s: float = WITHIN_S, rest_s: float = REST_S) -> None:
        self._slow = slow
        self._failed = failed
        self._within_s = within_s
        self._rest_s = rest_s
        self._resting_until = 0.0

    async def ask(self, asking: Callable[[], Awaitable[T]]) -> Answered[T]:
        """Never raises what may pass, or what an operator must mend: who searches is told, and so is the log."""
        now_s = asyncio.get_running_loop().time
        if now_s() < self._resting_until:
            return Answered(degraded=(self._slow,))
        try:
            async with asyncio.timeout(self._within_s):
                return Answered(await asking())
        except TimeoutError:
            self._resting_until = now_s() + self._rest_s
            log.warning("%s: no answer within %g s", self._slow, self._within_s)
            return Answered(degraded=(self._slow,))
        except MemstreamError as exc:
            log.warning("%s: %s", self._failed, exc)
            return Answered(degraded=(self._failed,))
