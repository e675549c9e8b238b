"""The state of the pipeline: lag, model calls, parked requests, budgets, dead letters. Parts that cannot be read are listed
as missing."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct

from agents.api.budgets.usage_report import UsageReport
from agents.budgets.arithmetic import LimitStatus
from agents.dead_letters.dead_letter_queue import DeadLetterStatus, DeadLetterStatuses
from schemas.conversations.messages import Moment
from schemas.errors import MemstreamError
from sinks.metrics.pipeline_state import ParkedRequests, ProviderState, UnderWay
from streams.kafka.lag import StageLag

T = TypeVar("T")

CACHE_S: Final = 3.0  # limits the load on the brokers, however many clients poll
TIMEOUT_S: Final = 8.0  # a slower part is reported as missing


class Lags(Protocol):
    """Consumer lag per stage (streams.kafka.lag.StageLags)."""

    async def read(self) -> tuple[StageLag, ...]: ...


class StoredState(Protocol):
    """The pipeline's state in PostgreSQL (sinks.metrics.pipeline_state.PipelineState)."""

    async def providers(self) -> tuple[ProviderState, ...]: ...

    async def parked(self) -> tuple[ParkedRequests, ...]: ...

    async def under_way(self) -> UnderWay: ...


class Pipeline(Struct, frozen=True, kw_only=True):
    """The state of the pipeline at the time `at`, a few seconds old at most. `dead_letters` counts those that were neither
    replayed nor discarded. A part that could not be read in time is null or empty, and `missing` has the reason by its
    name."""

    at: Moment
    stages: tuple[StageLag, ...]
    providers: tuple[ProviderState, ...]
    parked: tuple[ParkedRequests, ...]
    under_way: UnderWay | None
    budget: tuple[LimitStatus, ...]
    dead_letters: int | None
    missing: dict[str, str]


class PipelineStatus:
    """Reads all parts concurrently, and caches the result for some seconds. `seconds` is a monotonic clock."""

    def __init__(
        self,
        lags: Lags,
        state: StoredState,
        usage: UsageReport,
        dead_letters: DeadLetterStatuses,
        clock: Callable[[], datetime],
        seconds: Callable[[], float],
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._lags = lags
        self._state = state
        self._usage = usage
        self._dead_letters = dead_letters
        self._clock = clock
        self._seconds = seconds
        self._timeout_s = timeout_s
        self._lock = asyncio.Lock()
        self._cached: tuple[Pipeline, float] | None = None

    async def read(self) -> Pipeline:
        """Returns the state. Does not raise errors of a part, but lists the part in `missing`."""
        async with self._lock:  # concurrent requests share one read
            if self._cached is None or self._seconds() - self._cached[1] >= CACHE_S:
                self._cached = await self._read_parts(), self._seconds()
            return self._cached[0]

    async def _read_parts(self) -> Pipeline:
        errors: dict[str, str] = {}
        stages, providers, parked, under_way, budget, dead_letters = await asyncio.gather(
            self._read_part("stages", self._lags.read(), (), errors),
            self._read_part("providers", self._state.providers(), (), errors),
            self._read_part("parked", self._state.parked(), (), errors),
            self._read_part("under_way", self._state.under_way(), None, errors),
            self._read_part("budget", self._usage.remaining_budget(), (), errors),
            self._read_part("dead_letters", self._count_dead_letters(), None, errors),
        )
        return Pipeline(
            at=self._clock(),
            stages=stages,
            providers=providers,
            parked=parked,
            under_way=under_way,
            budget=budget,
            dead_letters=dead_letters,
            missing=errors,
        )

    async def _read_part(self, name: str, read: Awaitable[T], default: Any, errors: dict[str, str]) -> T:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await read
        except TimeoutError:
            errors[name] = f"no response within {self._timeout_s:g} s"
        except MemstreamError as exc:
            errors[name] = exc.plain
        return default  # type: ignore[no-any-return]

    async def _count_dead_letters(self) -> int:
        return len(unsettled(await self._dead_letters.statuses()))


def unsettled(dead_letters: Sequence[DeadLetterStatus]) -> list[DeadLetterStatus]:
    """Returns the dead letters that were neither replayed nor discarded."""
    return [each for each in dead_letters if each.outcome is None]
