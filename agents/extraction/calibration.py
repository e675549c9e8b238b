"""Learns how models count tokens, in the background; failures have no effect on extraction."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from agents.models.port import MeasuredCall
from schemas.conversations.windows import Calibration
from schemas.counts import counted
from schemas.errors import Retryable
from streams.windows.tokens.calibration import observe

log = logging.getLogger(__name__)

MAX_PENDING: Final = 32


class Calibrations(Protocol):
    """The store of calibrations."""

    async def learn(self, model: str, change: Callable[[Calibration], Calibration]) -> Calibration:
        """Applies `change` to a model's calibration and returns the result. Raises Retryable."""


class CalibrationLearner:
    """Stores calibrations in the background; does nothing without `calibrations`. Failed writes are not retried, as later
    calls have the same information."""

    def __init__(self, calibrations: Calibrations | None) -> None:
        self._calibrations = calibrations
        self._under_way: set[asyncio.Task[None]] = set()

    def learn(self, model: str, calls: Sequence[MeasuredCall]) -> None:
        """Returns at once. Drops calls if more than a bounded number of writes are pending."""
        if self._calibrations is None or not calls or len(self._under_way) >= MAX_PENDING:
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

    async def _learn(self, calibrations: Calibrations, model: str, calls: Sequence[MeasuredCall]) -> None:
        sent = counted(len(calls), "calls")
        try:
            await calibrations.learn(model, lambda known: observed(known, calls))
        except Retryable as exc:
            log.warning("token counts of %s of model %s were not stored: %s", sent, model, exc)
        except Exception:
            log.exception("token counts of %s of model %s were not stored", sent, model)


def observed(known: Calibration, calls: Sequence[MeasuredCall]) -> Calibration:
    """The calibration after these calls. The cost of structured outputs besides their texts is not published, so it is
    ignored."""
    for call in calls:
        known = observe(known, call.counted_tokens, call.billed_tokens)
    return known
