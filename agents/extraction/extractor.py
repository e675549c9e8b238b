"""One request through the LLM stage: at most one call per slice, its answer stored before anything is published."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime

from msgspec import structs

from agents.extraction.calibration import CalibrationLearner, Calibrations
from agents.extraction.erased import (
    SpeakerFences,
    empty_answer,
    fences_on,
    proposals_without_erased,
    still_answerable,
    summary_without_erased,
)
from agents.extraction.records import answer_records
from agents.extraction.related import RelatedMemories
from agents.models.port import Answer, Context, Provider, Summary
from agents.stage.leases import StillHeld, ignore_retryable, renewed_lease
from schemas import codec
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Retryable
from schemas.extraction.requests import ExtractionRequest, Lane
from schemas.kafka.records import Publisher
from schemas.policies.policies import Policy, PolicySelector
from sinks.extraction.answers import Answered, Extractions, Held, Leased
from sinks.extraction.parked import Fed

log = logging.getLogger(__name__)

LEASE_S = 10.0  # how long a dead worker's call keeps the next owner waiting; a running call renews its lease
LOOK_AGAIN_S = 0.5


class Extractor:
    """`concurrency` bounds the model calls of this process in the live lane, `background_concurrency` those in the other one;
    requests that wait for another owner's lease are outside of it.

    Calls that a model answered teach `calibrations` how it counts tokens. `monotonic_s` is this process's clock, against which a
    lease that could not be renewed runs out. `taken` is told of each answer that came from elsewhere.
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
        taken: Callable[[Answer], object] = lambda answer: None,
    ) -> None:
        self._taken = taken
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
        self._teacher = CalibrationLearner(calibrations)
        self._monotonic_s = monotonic_s

    async def answer(self, request: ExtractionRequest, owner: str, still_held: StillHeld) -> bool:
        """Answers a request, from the store if it was answered before, and publishes what the answer comes to.

        That is one candidate batch a namespace, or the word that messages are summarised. `owner` names this delivery;
        `still_held` says whether it is still this worker's, asked again before anything is sent: False if it is not, and
        nothing is published. Raises Retryable and Rejected as the provider does, and Deferred: also `busy`, when as many
        calls as there may be in the background are under way, so that none of them makes others wait.
        """
        stored = await self.stored_answer(request, owner, still_held)
        return stored is not None and await self._publish(request, stored, still_held)

    async def without_erased(self, request: ExtractionRequest) -> ExtractionRequest:
        """A request without what was erased since; without messages if there is nothing to ask any more. Raises Retryable."""
        return still_answerable(request, await self._fences(request))

    async def without_erased_and_fences(
        self, request: ExtractionRequest
    ) -> tuple[ExtractionRequest, Fed, Sequence[Fence]]:
        """What `without_erased` tells, with what its speakers feed, and the fences that were heeded. Raises Retryable."""
        fences = await self._fences(request)
        fed = dict(request.feeding(self._namespaces(request)).values())
        return still_answerable(request, fences), fed, [fence for each in fences.values() for fence in each]

    async def enrol_in_batch(self, request: ExtractionRequest, owner: str, still_held: StillHeld) -> Context | bool:
        """For a request that is answered elsewhere, and later: what the question knows besides the slice.

        If it has been answered already that is published, and the outcome is as `answer` says. Raises as `answer` does;
        Deferred, if a call for it is under way. What was erased in part, or whole, goes nowhere else: it is answered now.
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
        """Stores and publishes the answer to a request that was enrolled, as `answer` does; the first answer stored counts."""
        self._taken(answer)
        return await self._publish(request, await self._store(request, owner, answer), still_held)

    async def _publish(self, request: ExtractionRequest, stored: bytes, still_held: StillHeld) -> bool:
        if not still_held():
            return False
        await self._publisher.publish(answer_records(request, stored, self._clock()))
        return True

    async def close(self) -> None:
        """Ends what goes on beside the answers."""
        await self._teacher.close()

    async def stored_answer(self, request: ExtractionRequest, owner: str, still_held: StillHeld) -> bytes | None:
        """The answer to a request, whoever asked and whenever; None once it is not this worker's any more. Nothing is published.
        Raises as `answer` does."""
        while still_held():
            claimed_at = self._monotonic_s()
            lease = await self._extractions.lease(request, owner, LEASE_S)
            if isinstance(lease, Answered):
                return lease.answer
            if isinstance(lease, Leased):
                return await self._ask(request, owner, claimed_at)
            await asyncio.sleep(min(LOOK_AGAIN_S, self._seconds_until(lease)))
        return None

    def _seconds_until(self, held: Held) -> float:
        return max(0.05, (held.until - self._clock()).total_seconds())

    async def _ask(self, request: ExtractionRequest, owner: str, claimed_at: float) -> bytes:
        async with self._renewed_lease(request.request_id, owner, claimed_at) as still_leased:
            if not (await self.without_erased(request)).messages:
                return await self._store(request, owner, empty_answer(request))
            slots = self._calls[request.lane]
            if request.lane == "background" and slots.locked():
                raise Deferred(self._clock(), "busy")
            async with slots:
                if not still_leased():
                    raise Retryable(
                        "its lease ran out before there was room for the call: another worker may be asking"
                    )
                answer = await self._call(request)
            return await self._store(request, owner, answer)

    async def _store(self, request: ExtractionRequest, owner: str, answer: Answer | Summary) -> bytes:
        self._teacher.learn(answer.model, answer.calls)
        if isinstance(answer, Summary):
            answer = summary_without_erased(request, answer, await self._fences(request))
        else:
            kept, rejected = len(answer.proposals), answer.rejected or "nothing"
            log.info("%s proposes %d memories for %s, not kept: %s", answer.model, kept, request.request_id, rejected)
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
        """As it is now; but what was said under one that was local_only stays here, whatever became of the policy."""
        policy = self._policies.by_name(request.policy)
        return structs.replace(policy, local_only=True) if request.local_only else policy

    async def _call(self, request: ExtractionRequest) -> Answer | Summary:
        policy = self._policy(request)
        request = await self.without_erased(request)
        if not request.messages:
            return empty_answer(request)
        if request.purpose == "summarise":
            return await self._provider.summarise(request, policy)
        return await self._provider.extract(request, await self._context(request))

    async def _fences(self, request: ExtractionRequest) -> SpeakerFences:
        return await fences_on(self._extractions, request, self._namespaces(request))

    def _namespaces(self, request: ExtractionRequest) -> tuple[str, ...]:
        """A summary feeds no namespace; it tells of what fed those of its conversation."""
        return request.namespaces or self._policy(request).namespaces_of(request.scope)

    async def _context(self, request: ExtractionRequest) -> Context:
        policy = self._policy(request)
        return Context(policy=policy, related=await self._related.of(request, policy))

    @contextlib.asynccontextmanager
    async def _renewed_lease(self, request_id: str, owner: str, claimed_at: float) -> AsyncIterator[StillHeld]:
        """Has the lease renewed while work goes on, and gives it back when that fails."""
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
