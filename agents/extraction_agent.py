"""The extraction agent: many requests at a time, each acked when its answer is published, or it is parked or dead-lettered."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from agents.dead_letters import position
from agents.extractor import Extractor
from agents.llm.batches import ModelBatches
from agents.outcomes import Outcomes
from agents.serving import give_up, pause_s
from schemas import codec
from schemas.errors import Deferred, Rejected, Retryable
from schemas.policies import Choosing, Policy
from schemas.requests import ExtractionRequest
from sinks.parked import Parking
from streams.delivery import cancellation
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch

log = logging.getLogger(__name__)


class ExtractionAgent:
    """`in_flight` bounds the batches taken on at a time, waiting ones included. `worker` names this process.

    Under policies that want it background work waits to go into model `batches`, if there are any.
    """

    def __init__(
        self,
        app: StageApp,
        extractor: Extractor,
        outcomes: Outcomes,
        parking: Parking,
        policies: Choosing,
        worker: str,
        clock: Callable[[], datetime],
        *,
        batches: ModelBatches | None = None,
        in_flight: int = 8,
    ) -> None:
        self._app = app
        self._extractor = extractor
        self._outcomes = outcomes
        self._parking = parking
        self._policies = policies
        self._worker = worker
        self._clock = clock
        self._batches = batches
        self._in_flight = in_flight
        self._running: set[asyncio.Task[None]] = set()

    async def handle(self, batch: Batch) -> None:
        """Takes the batch on and returns; batches end in any order, and the frontier passes only finished ones."""
        while len(self._running) >= self._in_flight:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._batch(batch), name=f"extract {batch!r}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        """Ends what is still running: its batches are not held any more, and their requests are asked for again."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._extractor.close()

    async def _batch(self, batch: Batch) -> None:
        try:
            await asyncio.gather(*(self._record(batch, record) for record in batch.records))
        except asyncio.CancelledError as exc:
            if cancellation.asked_for():
                raise
            await give_up(self._app, batch, exc)
        except Exception as exc:  # noqa: BLE001 (give_up logs it)
            await give_up(self._app, batch, exc)
        else:
            batch.ack()

    async def _record(self, batch: Batch, record: Any) -> None:
        tries = 0
        while batch.held:
            try:
                await self._attempt(batch, record)
                return
            except Retryable as exc:
                tries += 1
                log.warning("attempt %d on request at %s[%d]@%d failed: %s", tries, *position(record), exc)
                await asyncio.sleep(pause_s(tries))

    async def _attempt(self, batch: Batch, record: Any) -> None:
        def still_held() -> bool:
            return batch.held

        try:
            request = codec.decode(record.value, ExtractionRequest)
        except Rejected as rejected:
            await self._outcomes.put_aside(record, rejected, still_held)
            return
        owner = f"{self._worker}/{batch.epoch}/{record.offset}"
        await self._outcomes.of(
            record, request, lambda: self._answer_or_park(batch, record, request, owner), still_held
        )

    async def _answer_or_park(self, batch: Batch, record: Any, request: ExtractionRequest, owner: str) -> bool:
        """A request that is parked already was asked for again: whoever resumes it answers for both."""
        if await self._parking.holds(request.request_id):
            return True
        policy = self._policies.named(request.policy)
        batched = self._waits_for_a_batch(request, policy)
        try:
            if batched:
                raise Deferred(self._clock(), "batch")
            return await self._extractor.answer(request, owner, lambda: batch.held)
        except Deferred as deferred:
            if batch.held:
                log.info("request %s is parked: %s", request.request_id, deferred)
                await self._parking.park(record, request, deferred, policy.background_deadline_s, batched=batched)
            return batch.held

    def _waits_for_a_batch(self, request: ExtractionRequest, policy: Policy) -> bool:
        wanted = policy.batch and request.lane == "background"
        return wanted and self._batches is not None and self._batches.fits(request)
