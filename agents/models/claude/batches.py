"""Message Batches of the Anthropic API."""

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

import anthropic
import httpx2
from anthropic.types.messages import (
    MessageBatch,
    MessageBatchErroredResult,
    MessageBatchIndividualResponse,
    MessageBatchSucceededResult,
)
from anthropic.types.messages.batch_create_params import Request

from agents.models.batches import BatchNotFound, BatchReply, ListedBatch, NoReply, SubmissionUnknown
from agents.models.billing import Bill, BudgetGuard, Payer, PricedWork
from agents.models.calls.exchange import ChatTurn, ModelCalls, ModelReply
from agents.models.claude.calls import has_credentials, model_reply, params
from agents.models.claude.errors import DETAIL_CHARS, is_billing_error, translated
from agents.models.model_provider import ModelProvider
from agents.models.port import Answer, Context, Usage
from agents.models.prompts.questions import Question
from agents.privacy.scrub import scrub
from schemas.budgets.usage import Outcome
from schemas.counts import counted
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy

CUSTOM_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # request ids that the API accepts
SUBMIT_TIMEOUT_S: Final = 120.0
PAGE_SIZE: Final = 100
RESERVED_S: Final = 26 * 3_600.0  # a batch takes at most a day
# Errors of requests about a batch: the SDK passes on errors of a stream, and validates nothing.
REQUEST_ERRORS: Final = (anthropic.AnthropicError, httpx2.HTTPError, ValueError, AttributeError, TypeError)
# A request with such an error fails again in any call; one with another error may succeed in a single call.
PERMANENT_ERRORS: Final = {"invalid_request_error": "refused_request", "request_too_large": "too_large"}


class EarlierReservation:
    """The budget reservation that was made when the batch was submitted."""

    def __init__(self, budget_guard: BudgetGuard, reservation: str) -> None:
        self._budget_guard = budget_guard
        self._reservation = reservation

    async def reserve(self, work: PricedWork, lasts_s: float = RESERVED_S) -> str:
        return self._reservation

    async def settle(self, work: PricedWork, reservation_id: str, bills: Sequence[Bill], outcome: Outcome) -> None:
        """Books the cost of the batch once, however often its reply is read, and each repair call."""
        batched = [bill for bill in bills if bill.usage.batched]
        await self._budget_guard.settle(work, reservation_id, batched, outcome)
        if repairs := [bill for bill in bills if not bill.usage.batched]:
            await self._budget_guard.settle(work, uuid4().hex, repairs, outcome)


class ClaudeBatches:
    """Batches of questions to `model`; `calls` make repair calls. The owner of the client closes it."""

    def __init__(
        self,
        client: anthropic.AsyncAnthropic,
        model: str,
        calls: ModelCalls,
        provider: ModelProvider,
        budget_guard: BudgetGuard | None = None,
    ) -> None:
        self.name = calls.name
        self.leaves_machine = calls.leaves_machine
        self._client = client
        self._model = model
        self._calls = calls
        self._provider = provider
        self._budget_guard = budget_guard

    def fits(self, request: ExtractionRequest) -> bool:
        return request.purpose == "extract" and CUSTOM_ID.fullmatch(request.request_id) is not None

    def question(self, request: ExtractionRequest, context: Context) -> Question[Any]:
        return self._provider.question(request, context)

    async def submit(self, questions: Mapping[str, Question[Any]]) -> str:
        if not has_credentials(self._client):
            raise Misconfigured("no credentials for Claude: set ANTHROPIC_API_KEY, or choose the provider `offline`")
        # No retries: the SDK would repeat a submission that may have been accepted, and two batches would be billed.
        client = self._client.with_options(max_retries=0, timeout=SUBMIT_TIMEOUT_S)
        sent = f"a batch of {counted(len(questions), 'requests')}"
        try:
            batch = await client.messages.batches.create(
                requests=[self._request(name, question) for name, question in questions.items()]
            )
        except anthropic.APIStatusError as exc:
            if exc.status_code < 500:
                raise translated(exc, self._model) from exc
            raise SubmissionUnknown(f"{sent} may have been accepted", str(exc)) from exc
        except (anthropic.APIError, ValueError) as exc:
            raise SubmissionUnknown(f"{sent} may have been accepted", str(exc)) from exc
        except anthropic.AnthropicError as exc:
            raise translated(exc, self._model) from exc
        if not isinstance(batch, MessageBatch) or not isinstance(batch.id, str):
            raise SubmissionUnknown(f"the response to {sent} is not a batch")
        return batch.id

    def _request(self, name: str, question: Question[Any]) -> Request:
        turns = (ChatTurn("user", question.user_prompt),)
        # Unused tokens cost nothing, but a truncated reply would be repeated at full price.
        message_params = params(question, turns, self._model, self._calls.max_reply_tokens)
        return {"custom_id": name, "params": message_params}

    async def ended(self, provider_id: str) -> bool:
        try:
            return (await self._client.messages.batches.retrieve(provider_id)).processing_status == "ended"
        except REQUEST_ERRORS as exc:
            raise self._failure(exc, provider_id) from exc

    async def replies(self, provider_id: str) -> AsyncGenerator[tuple[str, BatchReply], None]:
        try:
            lines = await self._client.messages.batches.results(provider_id)
            try:
                async for line in lines:
                    if isinstance(line, MessageBatchIndividualResponse) and isinstance(line.custom_id, str):
                        yield line.custom_id, reply_of(line.result)
            finally:
                await lines.close()
        except REQUEST_ERRORS as exc:
            raise self._failure(exc, provider_id) from exc

    async def since(self, moment: datetime) -> Sequence[ListedBatch]:
        found: list[ListedBatch] = []
        try:
            async for batch in self._client.messages.batches.list(limit=PAGE_SIZE):
                if batch.created_at < moment:
                    break
                found.append(listed_batch(batch))
        except REQUEST_ERRORS as exc:
            raise self._failure(exc) from exc
        return found

    async def reserve(self, question: Question[Any]) -> str | None:
        if self._budget_guard is None:
            return None
        return await self._budget_guard.reserve(self._provider.work(question), RESERVED_S)

    async def release(self, request: ExtractionRequest, policy: Policy, reservation: str) -> None:
        if self._budget_guard is None:
            return
        payer = Payer.of(request, policy)
        work = PricedWork(operation="extract", payer=payer, provider=self.name, model=self._model, max_usage=Usage())
        await self._budget_guard.settle(work, reservation, (), "failed")

    async def answer(
        self, request: ExtractionRequest, context: Context, reply: ModelReply | Rejected, reservation: str | None
    ) -> Answer:
        guard = (
            EarlierReservation(self._budget_guard, reservation)
            if self._budget_guard and reservation
            else self._budget_guard
        )
        return await self._provider.with_calls(FirstReply(reply, self._calls), guard).extract(request, context)

    def _failure(self, error: Exception, provider_id: str | None = None) -> Exception:
        if provider_id and isinstance(error, anthropic.APIStatusError) and error.status_code in (404, 410):
            return BatchNotFound(f"there is no batch {provider_id}, or its results are gone")
        failure = translated(error, self._model) if isinstance(error, anthropic.AnthropicError) else error
        if isinstance(failure, Retryable | Misconfigured):
            return failure
        # The state of the batch is unknown: single calls might pay for its requests twice.
        return Retryable(f"the response about {provider_id or 'batches'} cannot be read", repr(failure))


def listed_batch(batch: MessageBatch) -> ListedBatch:
    counts = batch.request_counts
    requests = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
    return ListedBatch(provider_id=batch.id, requests=requests, ended=batch.processing_status == "ended")


def reply_of(result: object) -> BatchReply:
    """Converts the result of one question. The SDK validates nothing: a result of an unknown type counts as no reply."""
    if isinstance(result, MessageBatchSucceededResult):
        try:
            return model_reply(result.message)
        except Rejected as rejected:
            return rejected
        except Retryable as exc:
            return NoReply(str(exc))
    if isinstance(result, MessageBatchErroredResult):
        error = getattr(result.error, "error", None)
        return reply_of_error(str(getattr(error, "type", None)), str(getattr(error, "message", None)))
    return NoReply(str(getattr(result, "type", None)))


def reply_of_error(kind: str, message: str) -> BatchReply:
    """Converts the error of one question: Rejected if no call can answer it. NoReply makes a single call, which detects an empty
    account or a wrong model."""
    reason = PERMANENT_ERRORS.get(kind)
    if reason is None or is_billing_error(message) or "output_config" in message:
        return NoReply(kind)
    return Rejected(reason, f"Claude answered: {scrub(message).text[:DETAIL_CHARS]}")


class FirstReply:
    """Calls for one question with a known first reply, such as one from a batch: the first call returns or raises `reply`,
    and only repairs call the model."""

    def __init__(self, reply: ModelReply | Rejected, calls: ModelCalls) -> None:
        self.name = calls.name
        self.leaves_machine = calls.leaves_machine
        self.max_reply_tokens = calls.max_reply_tokens
        self._reply: ModelReply | Rejected | None = reply
        self._calls = calls

    async def unavailable_reason(self) -> str | None:
        return await self._calls.unavailable_reason()

    def model(self, question: Question[Any]) -> str:
        return self._calls.model(question)

    async def call(self, question: Question[Any], turns: Sequence[ChatTurn], max_tokens: int) -> ModelReply:
        reply, self._reply = self._reply, None
        if isinstance(reply, Rejected):
            raise reply
        return reply if reply is not None else await self._calls.call(question, turns, max_tokens)

    def fixed_texts(self, question: Question[Any]) -> tuple[str, ...]:
        return self._calls.fixed_texts(question)
