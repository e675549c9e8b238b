"""Answers one extraction request: at most one model call per slice, with its answer stored before anything is published."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from datetime import datetime

from msgspec import structs

from agents.extraction.calibration import CalibrationLearner, Calibrations
from agents.extraction.erasure_filter import (
    SpeakerFences,
    empty_answer,
    fences_on,
    proposals_without_erased,
    still_answerable,
    summary_without_erased,
)
from agents.extraction.records import answer_records
from agents.extraction.related import RelatedMemories
from agents.extraction.shared_calls import SharedCall
from agents.models.port import Answer, Context, Provider, Summary
from agents.stage.leases import StillHeld, ignore_retryable, renewed_lease
from schemas import codec
from schemas.budgets.budgets import Lane
from schemas.counts import counted
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka.records import Publisher
from schemas.policies.policies import Policy, PolicySelector
from sinks.extraction.answers import Answered, Extractions, Held, Leased
from sinks.extraction.parked import Fed

log = logging.getLogger(__name__)

LEASE_S = 10.0  # the wait after a worker died during a call; a running call renews its lease
POLL_S = 0.5  # while another worker holds the lease


class Extractor:
    """`concurrency` bounds this process's model calls in the live lane, `background_concurrency` those in the background
    lane. Requests that wait for another worker's lease do not count.

    Answers update `calibrations`. `monotonic_s` is the process's clock for leases that cannot be renewed. `on_batch_answer`
    is called with each answer from a batch.
    """

    def __init__(
        self,
        extractions: Extractions,
        provider: Provider,
        related: RelatedMemories,
        publisher: Publisher,
        policies: PolicySelector,
        clock: Callable[[], datetime],
        *,
        concurrency: int = 8,
        background_concurrency: int = 4,
        calibrations: Calibrations | None = None,
        monotonic_s: Callable[[], float] = time.monotonic,
        on_batch_answer: Callable[[Answer], object] = lambda answer: None,
    ) -> None:
        self._on_batch_answer = on_batch_answer
        self._extractions = extractions
        self._provider = provider
        self._related = related
        self._publisher = publisher
        self._policies = policies
        self._clock = clock
        self._calls: dict[Lane, asyncio.Semaphore] = {
            "live": asyncio.Semaphore(concurrency),
            "background": asyncio.Semaphore(background_concurrency),
        }
        self._learner = CalibrationLearner(calibrations)
        self._monotonic_s = monotonic_s

    @property
    def shares_calls(self) -> bool:
        """Whether a shared call costs less than single ones."""
        return self._provider.shares_calls

    def shared_call(self, request_ids: Collection[str], lane: Lane) -> SharedCall:
        """A shared call for these requests of a lane."""
        busy = (lambda: Deferred(self._clock(), "busy")) if lane == "background" else None
        slots = self._calls[lane]
        return SharedCall(request_ids, self._provider, self.without_erased, self._context, slots, busy)

    async def answer(
        self, request: ExtractionRequest, owner: str, still_held: StillHeld, shared: SharedCall | None = None
    ) -> bool:
        """Answers a request, from the store if possible, and publishes the result: one candidate batch per namespace, or a
        summary for the window.

        `owner` names this delivery. `still_held` says whether this worker still owns the request; it is checked before
        anything is published, and the method returns False if not. With `shared` the model call may be shared. Raises
        Retryable and Rejected as the provider does; Deferred `busy` if the background lane is full, and Deferred for other
        reasons as the provider does.
        """
        stored = await self.stored_answer(request, owner, still_held, shared)
        return stored is not None and await self._publish(request, stored, still_held)

    async def without_erased(self, request: ExtractionRequest) -> ExtractionRequest:
        """The request without erased messages; possibly empty. Raises Retryable."""
        return still_answerable(request, await self._fences(request))

    async def without_erased_and_fences(
        self, request: ExtractionRequest
    ) -> tuple[ExtractionRequest, Fed, Sequence[Fence]]:
        """`without_erased`, with the namespaces that each speaker feeds, and the fences applied. Raises Retryable."""
        fences = await self._fences(request)
        fed = dict(request.feeding(self._namespaces(request)).values())
        return still_answerable(request, fences), fed, [fence for each in fences.values() for fence in each]

    async def enrol_in_batch(self, request: ExtractionRequest, owner: str, still_held: StillHeld) -> Context | bool:
        """Prepares a request for a model batch. Returns its context, or the outcome as `answer` does if no batch is needed.

        Publishes the answer if there is one already. Answers a request with erased messages at once: it is sent to no batch.
        Raises as `answer` does, and Deferred while another worker's call is running.
        """
        if await self.without_erased(request) != request:
            return await self.answer(request, owner, still_held)
        claimed_at = self._monotonic_s()
        lease = await self._extractions.lease(request, owner, LEASE_S)
        if isinstance(lease, Answered):
            return await self._publish(request, lease.answer, still_held)
        if isinstance(lease, Held):
            raise Deferred(lease.until, "busy")
        async with self._renewed_lease(request.request_id, owner, claimed_at):
            context = await self._context(request)
        await self._extractions.release(request.request_id, owner)
        return context

    async def store_and_publish(
        self, request: ExtractionRequest, owner: str, answer: Answer, still_held: StillHeld
    ) -> bool:
        """Stores and publishes the answer to an enrolled request, as `answer` does. The answer that was stored first counts.
        Raises Deferred if a message of the request was erased meanwhile: the answer may rest on it."""
        self._on_batch_answer(answer)
        if await self.without_erased(request) != request:
            raise Deferred(self._clock(), "erased")
        return await self._publish(request, await self._store(request, owner, answer), still_held)

    async def _publish(self, request: ExtractionRequest, stored: bytes, still_held: StillHeld) -> bool:
        if not still_held():
            return False
        await self._publisher.publish(answer_records(request, stored, self._clock()))
        return True

    async def close(self) -> None:
        """Cancels background work."""
        await self._learner.close()

    async def stored_answer(
        self, request: ExtractionRequest, owner: str, still_held: StillHeld, shared: SharedCall | None = None
    ) -> bytes | None:
        """The stored answer to a request, after a model call if there was none; None once another worker owns the request.
        Publishes nothing. Raises as `answer` does."""
        while still_held():
            claimed_at = self._monotonic_s()
            lease = await self._extractions.lease(request, owner, LEASE_S)
            if isinstance(lease, Answered):
                return lease.answer
            if isinstance(lease, Leased):
                return await self._ask(request, owner, claimed_at, shared)
            await asyncio.sleep(min(POLL_S, self._seconds_until(lease)))
        return None

    def _seconds_until(self, held: Held) -> float:
        return max(0.05, (held.until - self._clock()).total_seconds())

    async def _ask(self, request: ExtractionRequest, owner: str, claimed_at: float, shared: SharedCall | None) -> bytes:
        async with self._renewed_lease(request.request_id, owner, claimed_at) as still_leased:
            remaining = await self.without_erased(request)
            if not remaining.messages:
                return await self._store(request, owner, empty_answer(request))
            if shared is not None:
                found = await shared.answer(remaining, still_leased)
                if found is not None:
                    return await self._store(request, owner, found)
            slots = self._calls[request.lane]
            if request.lane == "background" and slots.locked():
                raise Deferred(self._clock(), "busy")
            async with slots:
                if not still_leased():
                    raise Retryable(
                        "the request's lease expired before the model call could start: another worker may be making it"
                    )
                answer = await self._call(request)
            return await self._store(request, owner, answer)

    async def _store(self, request: ExtractionRequest, owner: str, answer: Answer | Summary) -> bytes:
        self._learner.learn(answer.model, answer.calls)
        if isinstance(answer, Summary):
            answer = summary_without_erased(request, answer, await self._fences(request))
        else:
            log.info(
                "request %s: model %s proposed %s, rejected by reason: %s",
                request.request_id,
                answer.model,
                counted(len(answer.memories), "memories"),
                answer.rejected or "none",
            )
            answer = proposals_without_erased(request, answer, await self._fences(request))
        return await self._extractions.store_answer(
            request.request_id,
            owner,
            codec.encode(answer),
            provider=answer.provider,
            model=answer.model,
            usage=answer.usage,
            parts=len(request.namespaces),
        )

    def _policy(self, request: ExtractionRequest) -> Policy:
        """The current policy. Messages that were extracted under a `local_only` policy stay local, whatever the policy says
        now."""
        policy = self._policies.by_name(request.policy)
        return structs.replace(policy, local_only=True) if request.local_only else policy

    async def _call(self, request: ExtractionRequest) -> Answer | Summary:
        """The answer of a model that was shown nothing erased: any part of an answer may rest on any message of the prompt."""
        remaining = await self.without_erased(request)
        while remaining.messages:
            answer, asked = await self._ask_model(remaining), remaining
            remaining = await self.without_erased(request)
            if remaining == asked:
                return answer
            log.info("request %s: a message was erased during the call, asking without it", request.request_id)
        return empty_answer(request)

    async def _ask_model(self, request: ExtractionRequest) -> Answer | Summary:
        if request.purpose == "summarise":
            return await self._provider.summarise(request, self._policy(request))
        return await self._provider.extract(request, await self._context(request))

    async def _fences(self, request: ExtractionRequest) -> SpeakerFences:
        return await fences_on(self._extractions, request, self._namespaces(request))

    def _namespaces(self, request: ExtractionRequest) -> tuple[str, ...]:
        """The request's namespaces; for a summary those that the conversation feeds."""
        return request.namespaces or self._policy(request).namespaces_of(request.scope)

    async def _context(self, request: ExtractionRequest) -> Context:
        policy = self._policy(request)
        return Context(policy=policy, related=await self._related.of(request, policy))

    @contextlib.asynccontextmanager
    async def _renewed_lease(self, request_id: str, owner: str, claimed_at: float) -> AsyncIterator[StillHeld]:
        """Renews the lease during the work; releases it after a failure."""
        what = f"request {request_id}"

        def renew() -> Awaitable[bool]:
            return self._extractions.renew(request_id, owner, LEASE_S)

        try:
            async with renewed_lease(what, renew, LEASE_S, claimed_at, self._monotonic_s) as still_leased:
                yield still_leased
        except BaseException:
            async with ignore_retryable(what):
                await self._extractions.release(request_id, owner)
            raise
