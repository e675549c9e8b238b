"""The agent of model batches: forms and submits them, polls them for hours, and processes their replies."""

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import datetime
from typing import Final
from uuid import uuid4

from agents.extraction.batches.reservations import BatchReservations
from agents.extraction.batches.submission import RETRY_S, BatchSubmission
from agents.extraction.extractor import LEASE_S, Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.models.batches import BatchNotFound, BatchReply, ModelBatches, NoReply
from agents.models.calls.exchange import ModelReply
from agents.models.port import Context
from agents.stage.leases import StillHeld, ignore_retryable, renewed_lease
from schemas.errors import Deferred, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.memories import Memory
from schemas.policies.policies import PolicySelector
from sinks.extraction.batches import Batch, Batches, Bounds, Member
from sinks.memories.reader import Memories

log = logging.getLogger(__name__)

MAX_PAUSE_FACTOR: Final = 10.0  # the longest pause between two polls of a batch, in first pauses
PAUSE_GROWTH: Final = 1.5  # factor from one pause to the next


class BatchAgent:
    """`bounds` decide when a batch is submitted. It is polled after `poll_s` seconds, then less often. `worker` names this
    process; `monotonic_s` is its clock for leases that cannot be renewed."""

    def __init__(
        self,
        batches: Batches,
        provider: ModelBatches,
        extractor: Extractor,
        outcomes: RequestOutcomes,
        memories: Memories,
        policies: PolicySelector,
        worker: str,
        clock: Callable[[], datetime],
        *,
        bounds: Bounds,
        poll_s: float,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._batches = batches
        self._provider = provider
        self._extractor = extractor
        self._outcomes = outcomes
        self._memories = memories
        self._policies = policies
        self._worker = worker
        self._clock = clock
        self._bounds = bounds
        self._poll_s = poll_s
        self._monotonic_s = monotonic_s
        self._reservations = BatchReservations(batches, provider, policies)
        self._submission = BatchSubmission(
            batches, provider, extractor, outcomes, self._reservations, poll_s, policies, clock
        )

    async def tick(self) -> None:
        """Forms a batch of waiting requests, and processes every batch that is due. Raises Retryable and Misconfigured."""
        await self._batches.form(self._bounds)
        while True:
            owner, claimed_at = f"{self._worker}/batch/{uuid4().hex}", self._monotonic_s()
            batch = await self._batches.claim(owner, LEASE_S)
            if batch is None:
                return
            await self._look(batch, owner, claimed_at)

    async def _look(self, batch: Batch, owner: str, claimed_at: float) -> None:
        what = f"batch {batch.batch_key}"

        def renew() -> Awaitable[bool]:
            return self._batches.renew(batch.batch_key, owner, LEASE_S)

        try:
            async with renewed_lease(what, renew, LEASE_S, claimed_at, self._monotonic_s) as still_held:
                await self._advance(batch, owner, still_held)
        except Retryable as exc:
            log.warning("%s (%s) failed, trying again: %s", what, batch.state, exc)
            async with ignore_retryable(what):
                await self._batches.put_back(batch.batch_key, owner, RETRY_S)

    async def _advance(self, batch: Batch, owner: str, still_held: StillHeld) -> None:
        if batch.state == "forming":
            await self._submission.submit(batch, owner, still_held)
        elif batch.provider_id is None:
            await self._submission.find(batch, owner)
        else:
            await self._collect(batch, batch.provider_id, owner, still_held)

    async def _collect(self, batch: Batch, provider_id: str, owner: str, still_held: StillHeld) -> None:
        """Processes the replies of a batch. Requests with an outcome have left the batch, so a repeated run skips them."""
        unfinished = 0
        try:
            if not await self._provider.ended(provider_id):
                await self._batches.put_back(
                    batch.batch_key, owner, self._poll_s * min(MAX_PAUSE_FACTOR, PAUSE_GROWTH**batch.looks)
                )
                return
            async with aclosing(self._provider.replies(provider_id)) as replies:
                async for request_id, reply in replies:
                    member = await self._batches.member(batch.batch_key, request_id)
                    if member is not None and not await self._apply_reply(batch, member, reply, owner, still_held):
                        unfinished += 1
        except BatchNotFound as lost:
            log.error("batch %s is lost, its requests are sent one by one: %s", batch.batch_key, lost)
        if unfinished:
            await self._batches.put_back(batch.batch_key, owner, RETRY_S)
        else:
            await self._reservations.end(batch.batch_key, owner, "unanswered")
            await self._batches.forget()

    async def _apply_reply(
        self, batch: Batch, member: Member, reply: BatchReply, owner: str, still_held: StillHeld
    ) -> bool:
        """Processes one reply. True if the request has its outcome, or left the batch to be answered by a single call."""
        request_id = member.parked.request_id
        try:
            if isinstance(reply, NoReply):
                raise Deferred(self._clock(), reply.reason)
            done = await self._outcome(member, reply, f"{owner}/{request_id}", still_held)
        except Deferred as deferred:
            log.info(
                "request %s leaves batch %s and is sent by itself: %s", request_id, batch.batch_key, deferred.reason
            )
            await self._reservations.release(member)
            await self._batches.leave(batch.batch_key, owner, request_id, deferred)
            return True
        except Retryable as exc:
            log.warning(
                "storing the reply to request %s of batch %s failed, trying again later: %s",
                request_id,
                batch.batch_key,
                exc,
            )
            return False
        if done:
            await self._batches.finish(batch.batch_key, owner, request_id)
        return done

    async def _outcome(self, member: Member, reply: ModelReply | Rejected, owner: str, still_held: StillHeld) -> bool:
        async def take(request: ExtractionRequest) -> bool:
            context = await self._context(request, member)
            answer = await self._provider.answer(request, context, reply, member.reservation)
            return await self._extractor.store_and_publish(request, owner, answer, still_held)

        return await self._outcomes.run(member.parked, member.parked.request, take, still_held)

    async def _context(self, request: ExtractionRequest, member: Member) -> Context:
        """The context of the question with the memories in the same order, as the reply refers to them by number."""
        known = await self._memories.by_ids(member.related)
        related = tuple(known.get(memory_id) or erased_memory(memory_id, self._clock()) for memory_id in member.related)
        return Context(policy=self._policies.by_name(request.policy), related=related)


def erased_memory(memory_id: str, at: datetime) -> Memory:
    """A placeholder for a memory that was erased after the question: references to it are dropped."""
    return Memory(
        memory_id=memory_id,
        namespace="",
        kind="fact",
        text="",
        importance=0.0,
        confidence=0.0,
        version=1,
        sequence=0,
        status="deleted",
        created_at=at,
        updated_at=at,
        created_by="",
    )
