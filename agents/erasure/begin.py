"""Begins an erasure: reads the ends of the message partitions, then sets the fence."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, Protocol

from agents.erasure.receipt import ErasureRecords, receipt
from schemas.erasure.erasures import Erasure, ErasureKind
from schemas.erasure.receipts import Receipt

POLL_S: Final = 0.1


class ErasureStore(ErasureRecords, Protocol):
    """sinks.erasure.erasures.Erasures. Every method raises Retryable."""

    async def begin(self, erasure: Erasure) -> None: ...


class ErasureService:
    """`ends` returns the ends of the messages topic's partitions. Every method raises Retryable."""

    def __init__(
        self, erasures: ErasureStore, ends: Callable[[], Awaitable[dict[int, int]]], clock: Callable[[], datetime]
    ) -> None:
        self._erasures = erasures
        self._ends = ends
        self._clock = clock

    async def begin(
        self, erasure_id: str, kind: ErasureKind, actor: str, reason: str | None = None, **subject: str | None
    ) -> None:
        """Sets the fence; workers complete the erasure. `subject` are fields of an Erasure. A known id changes nothing."""
        positions = await self._ends()
        erasure = Erasure(
            erasure_id=erasure_id,
            kind=kind,
            at=self._clock(),
            positions=positions,
            actor=actor,
            reason=reason,
            **subject,
        )
        await self._erasures.begin(erasure)

    async def receipt(self, erasure_id: str, wait_s: float = 0.0) -> Receipt | None:
        """The receipt, once the erasure is complete or after `wait_s` seconds; None for an unknown id."""
        looks = round(wait_s / POLL_S)
        for _ in range(looks):
            stored = await self._erasures.get(erasure_id)
            if stored is None or stored.completed_at is not None:
                break
            await asyncio.sleep(POLL_S)
        return await receipt(self._erasures, erasure_id)
