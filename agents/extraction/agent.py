"""The extraction agent: processes many requests at a time and acknowledges each once its answer is published, parked or
dead-lettered."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from agents.extraction.extractor import Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.extraction.shared_calls import SHARED, sharing_key, tokens_of_call
from agents.models.batches import ModelBatches
from agents.stage.in_flight import InFlight, retry_while_held
from schemas import codec
from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy, PolicySelector
from sinks.extraction.parked import Parking, ShareGroup
from streams.delivery.app import StageApp
from streams.delivery.batch import Batch

log = logging.getLogger(__name__)


class ExtractionAgent:
    """`in_flight` bounds the concurrent batches, waiting ones included. `worker` names this process. Background requests
    wait for model `batches` if their policy uses them and the provider has them."""

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
        """Starts the batch and returns; batches end in any order."""
        await self._in_flight.start(batch, lambda: self._records(batch))

    async def close(self) -> None:
        """Cancels running work: its requests are delivered again."""
        await self._in_flight.close()
        await self._extractor.close()

    async def _records(self, batch: Batch) -> None:
        await asyncio.gather(
            *(retry_while_held(batch, record, partial(self._record, batch, record)) for record in batch.records)
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
        """Answers or parks a request. A repeated request that is parked already is left to the worker that resumes it. A
        live request stops waiting for a shared call."""
        if await self._parking.holds(request.request_id):
            if not request.may_wait:
                await self._parking.hasten(request.request_id, SHARED)
            return True
        policy = self._policies.by_name(request.policy)
        batched = self._goes_into_batch(request, policy)
        key = sharing_key(request, policy) if self._extractor.shares_calls and not batched else None
        try:
            if batched:
                raise Deferred(self._clock(), "batch")
            if key is not None:
                raise Deferred(self._clock() + timedelta(seconds=policy.share_wait_s), SHARED)
            return await self._extractor.answer(request, owner, lambda: batch.held)
        except Deferred as deferred:
            sharing = None if key is None else ShareGroup(key, tokens_of_call(request), policy.share_tokens)
            return await self._park(batch, record, request, owner, deferred, batched, sharing)

    async def _park(
        self,
        batch: Batch,
        record: Any,
        request: ExtractionRequest,
        owner: str,
        deferred: Deferred,
        batched: bool,
        sharing: ShareGroup | None,
    ) -> bool:
        """Parks the request without erased messages; checks again if an erasure is stored meanwhile."""
        deadline_s = self._policies.by_name(request.policy).background_deadline_s
        parked = False
        while batch.held and not parked:
            remaining, fed, known = await self._extractor.without_erased_and_fences(request)
            if not remaining.messages:  # answered at once, without a model call
                return await self._extractor.answer(request, owner, lambda: batch.held)
            value = record.value if remaining == request else codec.encode(remaining)
            parked = await self._parking.park(
                record,
                remaining,
                deferred,
                deadline_s,
                batched=batched,
                value=value,
                fed=fed,
                known=known,
                sharing=sharing,
            )
        if parked:
            log.info("request %s is parked for later: %s", request.request_id, deferred)
        return batch.held

    def _goes_into_batch(self, request: ExtractionRequest, policy: Policy) -> bool:
        if self._batches is None or not policy.batch or request.lane != "background":
            return False
        local_only = policy.local_only or request.local_only
        return self._batches.fits(request) and not (local_only and self._batches.leaves_machine)
