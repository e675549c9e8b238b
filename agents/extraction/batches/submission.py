"""Submits a batch exactly once: stores its questions first, and searches the provider's list if the result is unknown."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from agents.extraction.batches.reservations import BatchReservations
from agents.extraction.extractor import Extractor
from agents.extraction.outcomes import RequestOutcomes
from agents.models.batches import BatchNotFound, ListedBatch, ModelBatches, SubmissionUnknown
from agents.models.local_only import require_local
from agents.models.prompts.questions import Question
from agents.stage.leases import StillHeld
from schemas.counts import counted
from schemas.errors import Deferred, Misconfigured, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import PolicySelector
from sinks.extraction.batches import Batch, Batches, Member, QuestionContext

log = logging.getLogger(__name__)

CONCURRENT_LOOKUPS: Final = 8  # requests whose related memories are looked up concurrently
# The search for a batch begins this long before its submission, as the provider's clock may be behind.
CLOCK_TOLERANCE: Final = timedelta(minutes=10)
SETTLED_S: Final = 360.0  # the time after which a call that submits a batch has ended in any case
RETRY_S: Final = 60.0

StoredQuestions = dict[str, Question[Any]]


class BatchSubmission:
    """Handles batches that the provider has not confirmed. A confirmed one is polled after `first_look_s` seconds."""

    def __init__(
        self,
        batches: Batches,
        provider: ModelBatches,
        extractor: Extractor,
        outcomes: RequestOutcomes,
        reservations: BatchReservations,
        first_look_s: float,
        policies: PolicySelector,
        clock: Callable[[], datetime],
    ) -> None:
        self._batches = batches
        self._provider = provider
        self._extractor = extractor
        self._outcomes = outcomes
        self._reservations = reservations
        self._first_look_s = first_look_s
        self._policies = policies
        self._clock = clock

    async def submit(self, batch: Batch, owner: str, still_held: StillHeld) -> None:
        """Submits a batch that was not submitted yet. Raises Retryable and Misconfigured."""
        questions = await self._questions(batch, owner, still_held)
        if not questions:
            await self._batches.dissolve(batch.batch_key, owner, 0.0)
            return
        if await self._batches.submitting(batch.batch_key, owner, len(questions)) and still_held():
            await self._send(batch, owner, questions)

    async def _send(self, batch: Batch, owner: str, questions: dict[str, Question[Any]]) -> None:
        try:
            provider_id = await self._provider.submit(questions)
        except SubmissionUnknown as unsure:
            log.warning(
                "batch %s may have been accepted, looking for it at the provider before sending it again: %s",
                batch.batch_key,
                unsure,
            )
            await self._batches.put_back(batch.batch_key, owner, SETTLED_S)
        except Rejected as rejected:
            log.error("the provider refused batch %s, its requests are sent one by one: %s", batch.batch_key, rejected)
            await self._reservations.end(batch.batch_key, owner, rejected.reason)
        except (Retryable, Misconfigured):
            await self._batches.dissolve(batch.batch_key, owner, RETRY_S)
            raise
        else:
            log.info(
                "batch %s of %s is submitted, its id at the provider: %s",
                batch.batch_key,
                counted(len(questions), "requests"),
                provider_id,
            )
            await self._batches.submitted(batch.batch_key, owner, provider_id, self._first_look_s)

    async def _questions(self, batch: Batch, owner: str, still_held: StillHeld) -> StoredQuestions:
        questions: StoredQuestions = {}
        members = await self._batches.members(batch.batch_key)
        for first in range(0, len(members), CONCURRENT_LOOKUPS):
            some = members[first : first + CONCURRENT_LOOKUPS]
            await asyncio.gather(*(self._add_question(batch, each, owner, still_held, questions) for each in some))
        in_turn = (member.parked.request_id for member in members)
        return {request_id: questions[request_id] for request_id in in_turn if request_id in questions}

    async def _add_question(
        self, batch: Batch, member: Member, owner: str, still_held: StillHeld, questions: StoredQuestions
    ) -> None:
        """Adds the member's question to `questions`, unless the member got an outcome without a call, or must wait."""
        parked = member.parked
        try:
            done = await self._is_answered(batch, member, owner, still_held, questions)
        except Deferred as deferred:
            waiting, batched = self._waiting(parked.request(), deferred)
            await self._batches.leave(batch.batch_key, owner, parked.request_id, waiting, batched=batched)
            return
        if done:
            await self._batches.finish(batch.batch_key, owner, parked.request_id)

    def _waiting(self, request: ExtractionRequest, deferred: Deferred) -> tuple[Deferred, bool]:
        """The reason why the member waits, and whether it waits for another batch. Without budget it is answered alone if
        its policy then allows providers on this machine."""
        policy = self._policies.by_name(request.policy)
        if deferred.reason != "budget" or policy.on_spent_budget == "wait":
            return deferred, True
        return Deferred(self._clock(), deferred.reason), False

    async def _is_answered(
        self, batch: Batch, member: Member, owner: str, still_held: StillHeld, questions: StoredQuestions
    ) -> bool:
        """Whether the request's outcome was published already."""
        parked = member.parked

        async def enrol(request: ExtractionRequest) -> bool:
            context = await self._extractor.enrol_in_batch(request, f"{owner}/{parked.request_id}", still_held)
            if isinstance(context, bool):
                return context
            question = self._provider.question(request, context)
            require_local(question.local_only, self._provider)
            reservation = member.reservation or await self._provider.reserve(question)
            question_context = QuestionContext(
                related=tuple(memory.memory_id for memory in context.related), reservation=reservation
            )
            stored = False
            try:
                stored = await self._batches.ask(batch.batch_key, owner, parked.request_id, question_context)
            finally:
                if not stored and member.reservation is None:  # it is stored nowhere else
                    await self._reservations.release(replace(member, reservation=reservation))
            if stored:
                questions[parked.request_id] = question
            return False

        return await self._outcomes.run(parked, parked.request, enrol, still_held)

    async def find(self, batch: Batch, owner: str) -> None:
        """Searches the provider's list for a batch with an unknown result. The list has no request ids until a batch ends.

        A listed batch with the same number of requests is awaited, then its requests are compared. Without a match the batch
        was not accepted, and is formed again. Raises Retryable.
        """
        assert batch.sent_at is not None and batch.sent_s_ago is not None, "only a sent batch is searched for"
        if batch.sent_s_ago < SETTLED_S:
            await self._batches.put_back(batch.batch_key, owner, SETTLED_S - batch.sent_s_ago)
            return
        pending = False
        for each in await self._candidates(batch, await self._provider.since(batch.sent_at - CLOCK_TOLERANCE)):
            if not each.ended and not await self._has_ended(each):
                pending = True
            elif await self._matches(batch, each):
                await self._batches.submitted(batch.batch_key, owner, each.provider_id, 0.0)
                return
        if pending:
            await self._batches.put_back(batch.batch_key, owner, RETRY_S)
        else:
            log.warning("the provider did not accept batch %s: forming it again", batch.batch_key)
            await self._batches.dissolve(batch.batch_key, owner, 0.0)

    async def _candidates(self, batch: Batch, listed: Sequence[ListedBatch]) -> list[ListedBatch]:
        alike = [each for each in listed if each.requests == batch.requests]
        known = await self._batches.known([each.provider_id for each in alike])
        return [each for each in alike if each.provider_id not in known]

    async def _has_ended(self, listed: ListedBatch) -> bool:
        try:
            return await self._provider.ended(listed.provider_id)
        except BatchNotFound:
            return True

    async def _matches(self, batch: Batch, listed: ListedBatch) -> bool:
        try:
            async with aclosing(self._provider.replies(listed.provider_id)) as replies:
                async for request_id, _ in replies:
                    if await self._batches.member(batch.batch_key, request_id):
                        return True
        except BatchNotFound:
            log.info("the provider no longer has its batch %s: skipping it in the search", listed.provider_id)
        return False
