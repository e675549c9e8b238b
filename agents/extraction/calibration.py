"""Learns how models count tokens, in the background; failures have no effect on extraction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from agents.models.port import Call
from schemas.conversations.windows import Calibration
from schemas.errors import Retryable
from streams.windows.tokens.calibration import observe

log = logging.getLogger(__name__)

MOST_UNDER_WAY: Final = 32


class Calibrations(Protocol):
    """Where the calibrations of models are kept."""

    async def learn(self, model: str, change: Callable[[Calibration], Calibration]) -> Calibration:
        """Applies `change` to what is known of a model, and returns what is known then. Raises Retryable."""


class CalibrationLearner:
    """Does nothing without `calibrations`. It does not retry failed writes: the next call teaches the same."""

    def __init__(self, calibrations: Calibrations | None) -> None:
        self._calibrations = calibrations
        self._under_way: set[asyncio.Task[None]] = set()

    def learn(self, model: str, calls: Sequence[Call]) -> None:
        """Returns at once. If the store is slow, it drops calls beyond a bound."""
        if self._calibrations is None or not calls or len(self._under_way) >= MOST_UNDER_WAY:
            return
        task = asyncio.create_task(self._learn(self._calibrations, model, calls), name=f"calibrate {model}")
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def close(self) -> None:
        """Cancels pending writes."""
        under_way = list(self._under_way)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _learn(self, calibrations: Calibrations, model: str, calls: Sequence[Call]) -> None:
        try:
            await calibrations.learn(model, lambda known: observed(known, calls))
        except Retryable as exc:
            log.warning("what %d calls of %s say of its tokens is not kept: %s", len(calls), model, exc)
        except Exception:
            log.exception("what %d calls of %s say of its tokens is not kept", len(calls), model)


def observed(known: Calibration, calls: Sequence[Call]) -> Calibration:
    """The calibration after these calls. Structured outputs have no published cost besides their texts."""
    for call in calls:
        known = observe(known, call.counted_tokens, call.billed_tokens)
    return known
