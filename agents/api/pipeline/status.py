"""The pipeline at a glance: lag, model calls, parked requests, budgets, dead letters. A part that cannot be told is named."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct

from agents.api.budgets.consumption import Consumption
from agents.budgets.arithmetic import LimitStatus
from agents.dead_letters.letters import LetterStatus
from schemas.conversations.messages import Moment
from schemas.errors import MemstreamError
from sinks.metrics.pipeline_state import ParkedRequests, ProviderState, UnderWay
from streams.kafka.lag import StageLag

T = TypeVar("T")

KEPT_S: Final = 3.0  # the brokers are asked no more often, however many look
WITHIN_S: Final = 8.0  # a part that takes longer is left out


class Lags(Protocol):
    """streams.kafka.lag.StageLags."""

    async def read(self) -> tuple[StageLag, ...]: ...


class State(Protocol):
    """sinks.metrics.pipeline_state.PipelineState."""

    async def providers(self) -> tuple[ProviderState, ...]: ...

    async def parked(self) -> tuple[ParkedRequests, ...]: ...

    async def under_way(self) -> UnderWay: ...


class WaitingLetters(Protocol):
    """agents.dead_letters.letters.Letters."""

    async def statuses(self) -> list[LetterStatus]: ...


class Pipeline(Struct, frozen=True, kw_only=True):
    """As it was `at`, a few seconds old at most. `dead_letters` are those neither replayed nor discarded. What could not be told
    in time is null, or empty, and named in `missing`, with the reason."""

    at: Moment
    stages: tuple[StageLag, ...]
    providers: tuple[ProviderState, ...]
    parked: tuple[ParkedRequests, ...]
    under_way: UnderWay | None
    budget: tuple[LimitStatus, ...]
    dead_letters: int | None
    missing: dict[str, str]


class PipelineStatus:
    """Reads all parts side by side. `seconds` is monotonic."""

    def __init__(
        self,
        lags: Lags,
        state: State,
        usage: Consumption,
        letters: WaitingLetters,
        clock: Callable[[], datetime],
        seconds: Callable[[], float],
        *,
        within_s: float = WITHIN_S,
    ) -> None:
        self._lags = lags
        self._state = state
        self._usage = usage
        self._letters = letters
        self._clock = clock
        self._seconds = seconds
        self._within_s = within_s
        self._asking = asyncio.Lock()
        self._known: tuple[Pipeline, float] | None = None

    async def read(self) -> Pipeline:
        """Raises nothing that a part raises: it is missing then."""
        async with self._asking:  # who asks meanwhile gets the same answer
            if self._known is None or self._seconds() - self._known[1] >= KEPT_S:
                self._known = await self._look(), self._seconds()
            return self._known[0]

    async def _look(self) -> Pipeline:
        missing: dict[str, str] = {}
        stages, providers, parked, under_way, budget, letters = await asyncio.gather(
            self._part("stages", self._lags.read(), (), missing),
            self._part("providers", self._state.providers(), (), missing),
            self._part("parked", self._state.parked(), (), missing),
            self._part("under_way", self._state.under_way(), None, missing),
            self._part("budget", self._usage.left(), (), missing),
            self._part("dead_letters", self._waiting(), None, missing),
        )
        return Pipeline(
            at=self._clock(),
            stages=stages,
            providers=providers,
            parked=parked,
            under_way=under_way,
            budget=budget,
            dead_letters=letters,
            missing=missing,
        )

    async def _part(self, name: str, asked: Awaitable[T], otherwise: Any, missing: dict[str, str]) -> T:
        try:
            async with asyncio.timeout(self._within_s):
                return await asked
        except TimeoutError:
            missing[name] = f"it did not answer within {self._within_s:g} s"
        except MemstreamError as exc:
            missing[name] = exc.plain
        return otherwise  # type: ignore[no-any-return]

    async def _waiting(self) -> int:
        return len(waiting(await self._letters.statuses()))


def waiting(found: Sequence[LetterStatus]) -> list[LetterStatus]:
    """Those that nobody settled."""
    return [each for each in found if each.became is None]
