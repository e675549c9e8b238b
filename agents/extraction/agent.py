"""The extraction agent: processes many requests at a time and acknowledges each once its answer is published, parked or
dead-lettered."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from agents.extraction.extractor import Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.models.batches import ModelBatches
from agents.stage.in_flight import InFlight, cancel_when_lost
from schemas import codec
from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy, PolicySelector
from sinks.extraction.parked import Parking
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
        outcomes: RequestOutcomes,
        parking: Parking,
        policies: PolicySelector,
        worker: str,
        clock: Callable[[], datetime],
        *,
        batches: ModelBatches | None = None,
        in_flight: int = 8,
    ) -> None:
        self._extractor = extractor
        self._outcomes = outcomes
        self._parking = parking
        self._policies = policies
        self._worker = worker
        self._clock = clock
        self._batches = batches
        self._in_flight = InFlight(app, in_flight)

    async def handle(self, batch: Batch) -> None:
        """Takes the batch on and returns; batches end in any order."""
        await self._in_flight.start(batch, lambda: self._records(batch))

    async def close(self) -> None:
        """Ends what is still running: its requests are delivered again."""
        await self._in_flight.close()
        await self._extractor.close()

    async def _records(self, batch: Batch) -> None:
        await asyncio.gather(
            *(cancel_when_lost(batch, record, partial(self._record, batch, record)) for record in batch.records)
        )

    async def _record(self, batch: Batch, record: Any) -> None:
        owner = f"{self._worker}/{batch.epoch}/{record.offset}"
        await self._outcomes.run(
            record,
            lambda: codec.decode(record.value, ExtractionRequest),
            lambda request: self._answer_or_park(batch, record, request, owner),
            lambda: batch.held,
        )

    async def _answer_or_park(self, batch: Batch, record: Any, request: ExtractionRequest, owner: str) -> bool:
        """A request that is parked already was asked for again: whoever resumes it answers for both."""
        if await self._parking.holds(request.request_id):
            return True
        batched = self._goes_into_batch(request, self._policies.by_name(request.policy))
        try:
            if batched:
                raise Deferred(self._clock(), "batch")
            return await self._extractor.answer(request, owner, lambda: batch.held)
        except Deferred as deferred:
            return await self._park(batch, record, request, owner, deferred, batched)

    async def _park(
        self, batch: Batch, record: Any, request: ExtractionRequest, owner: str, deferred: Deferred, batched: bool
    ) -> bool:
        """What is left of the request waits: looked at again, if some of it is erased before it does."""
        deadline_s = self._policies.by_name(request.policy).background_deadline_s
        parked = False
        while batch.held and not parked:
            left, fed, known = await self._extractor.without_erased_and_fences(request)
            if not left.messages:  # nothing is asked, so this waits for nothing
                return await self._extractor.answer(request, owner, lambda: batch.held)
            value = record.value if left == request else codec.encode(left)
            parked = await self._parking.park(
                record, left, deferred, deadline_s, batched=batched, value=value, fed=fed, known=known
            )
        if parked:
            log.info("request %s is parked: %s", request.request_id, deferred)
        return batch.held

    def _goes_into_batch(self, request: ExtractionRequest, policy: Policy) -> bool:
        if self._batches is None or not policy.batch or request.lane != "background":
            return False
        stays = policy.local_only or request.local_only
        return self._batches.fits(request) and not (stays and self._batches.leaves_machine)
