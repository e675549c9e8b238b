"""Calls with a time limit to the optional parts of a search. A part that timed out is skipped for a while."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, Generic, TypeVar

from msgspec import Struct

from schemas.errors import MemstreamError
from schemas.retrieval.searches import Degraded

T = TypeVar("T")

TIMEOUT_S: Final = 2.0
COOLDOWN_S: Final = 5.0  # pause after a timeout

log = logging.getLogger(__name__)


class CallResult(Struct, Generic[T], frozen=True):
    """The result of a call, or None with the reasons."""

    value: T | None = None
    degraded: tuple[Degraded, ...] = ()


class TimeLimited:
    """Limits calls to one part to `timeout_s` seconds, and skips the part for `cooldown_s` seconds after a timeout. `slow` and
    `failed` are the names for the `degraded` list of an answer."""

    def __init__(
        self, slow: Degraded, failed: Degraded, *, timeout_s: float = TIMEOUT_S, cooldown_s: float = COOLDOWN_S
    ) -> None:
        self._slow = slow
        self._name = slow.removesuffix("_slow")
        self._failed = failed
        self._timeout_s = timeout_s
        self._cooldown_s = cooldown_s
        self._skipped_until = 0.0

    async def call(self, call: Callable[[], Awaitable[T]]) -> CallResult[T]:
        """Calls the part. Raises no MemstreamError: failures are logged and reported in the result."""
        now_s = asyncio.get_running_loop().time
        if now_s() < self._skipped_until:
            return CallResult(degraded=(self._slow,))
        try:
            async with asyncio.timeout(self._timeout_s):
                return CallResult(await call())
        except TimeoutError:
            self._skipped_until = now_s() + self._cooldown_s
            log.warning(
                "search: the %s did not answer within %g s, skipping it for %g s",
                self._name,
                self._timeout_s,
                self._cooldown_s,
            )
            return CallResult(degraded=(self._slow,))
        except MemstreamError as exc:
            log.warning("search: the %s failed, answering without it: %s", self._name, exc)
            return CallResult(degraded=(self._failed,))
