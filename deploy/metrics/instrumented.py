"""Ports wrapped with metrics and trace spans."""

import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from opentelemetry.trace import SpanKind
from prometheus_client import Counter

from agents.models.port import (
    Answer,
    Compaction,
    Context,
    MemoryToRate,
    Provider,
    Rating,
    Resolution,
    ShortText,
    Summary,
)
from agents.passages.indexer import PassageIndexer
from deploy.metrics.meters import Meters
from schemas.budgets.budgets import Amount
from schemas.budgets.usage import Consumed
from schemas.errors import Deferred, Rejected, Retryable
from schemas.extraction.candidates import Candidate, CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka.records import Outgoing, Publisher
from schemas.memories.memories import Memory
from schemas.observability import traces
from schemas.policies.policies import Policy, PolicySelector
from sinks.archive.messages import ArchivedMessage
from sinks.budgets.ledger import Ledger
from sinks.embeddings.port import Embedder
from sinks.passages.store import Passages
from sinks.passages.vectors import PassageVectors
from sinks.postgres.connection import Pool

OUTCOMES: tuple[tuple[type[Exception], str], ...] = (
    (Deferred, "deferred"),
    (Retryable, "retryable"),
    (Rejected, "rejected"),
)

A = TypeVar("A", Answer, Summary, Compaction, Rating, Resolution, ShortText)


class MeasuredProvider:
    """Implements agents.models.port.Provider."""

    def __init__(self, provider: Provider, meters: Meters, clock: Callable[[], float] = time.monotonic) -> None:
        self._provider = provider
        self._meters = meters
        self._clock = clock
        self.name = provider.name
        self.leaves_machine = provider.leaves_machine
        self.shares_calls = provider.shares_calls

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        answer = await self._timed("extract", self._provider.extract(request, context))
        self._meters.answered(answer)
        return answer

    async def extract_together(self, slices: Sequence[tuple[ExtractionRequest, Context]]) -> tuple[Answer, ...]:
        """Counts one question, and an answer for each slice."""
        answers: tuple[Answer, ...] = ()

        async def first() -> Answer:
            nonlocal answers
            answers = await self._provider.extract_together(slices)
            return answers[0]

        await self._timed("extract", first())
        for answer in answers:
            self._meters.answered(answer)
        return answers

    async def summarise(self, request: ExtractionRequest, policy: Policy) -> Summary:
        return await self._timed("summarise", self._provider.summarise(request, policy))

    async def compact(self, memories: Sequence[Memory], policy: Policy) -> Compaction:
        return await self._timed("compact", self._provider.compact(memories, policy))

    async def score(self, subject: MemoryToRate, policy: Policy) -> Rating:
        return await self._timed("score", self._provider.score(subject, policy))

    async def shorten(self, full_text: str, policy: Policy, namespace: str | None = None) -> ShortText:
        return await self._timed("shorten", self._provider.shorten(full_text, policy, namespace))

    async def resolve(
        self, candidates: Sequence[Candidate], memories: Sequence[Memory], policy: Policy, batch: CandidateBatch
    ) -> Resolution:
        return await self._timed("resolve", self._provider.resolve(candidates, memories, policy, batch))

    async def unavailable_reason(self) -> str | None:
        return await self._provider.unavailable_reason()

    async def close(self) -> None:
        await self._provider.close()

    async def _timed(self, operation: str, operation_call: Awaitable[A]) -> A:
        """Times an operation. An answer counts for its own provider, one of several behind `auto`; a failure counts for the
        whole provider."""
        started_at, provider, outcome = self._clock(), self.name, "failed"
        try:
            with traces.span(f"model {operation}", kind=SpanKind.CLIENT) as span:
                answer = await operation_call
                provider = answer.provider
                span.set_attribute("memstream.provider", provider)
            outcome = "answered"
        except Exception as exc:
            outcome = next((name for kind, name in OUTCOMES if isinstance(exc, kind)), "failed")
            raise
        finally:
            self._meters.model_requests_s.labels(operation, provider, outcome).observe(self._clock() - started_at)
        return answer


class MeasuredPublisher:
    """Implements schemas.kafka.records.Publisher; counts what the broker has confirmed."""

    def __init__(self, publisher: Publisher, meters: Meters) -> None:
        self._publisher = publisher
        self._meters = meters

    async def publish(self, records: Sequence[Outgoing]) -> None:
        await self._publisher.publish(records)
        self._meters.sent(records)


class MeasuredEmbedder:
    """Implements sinks.embeddings.port.Embedder; counts the seconds that texts to store took."""

    def __init__(self, embedder: Embedder, seconds: Counter, clock: Callable[[], float] = time.monotonic) -> None:
        self._embedder = embedder
        self._seconds = seconds
        self._clock = clock
        self.model = embedder.model
        self.dimension = embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        started_at = self._clock()
        try:
            return await self._embedder.embed(texts)
        finally:
            self._seconds.inc(self._clock() - started_at)

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        return await self._embedder.embed_questions(questions)


class MeasuredIndexer(PassageIndexer):
    """Counts new passages, and the seconds of embedding them."""

    def __init__(
        self,
        passages: Passages,
        vectors: PassageVectors,
        embedder: Embedder,
        policies: PolicySelector,
        meters: Meters,
    ) -> None:
        super().__init__(passages, vectors, MeasuredEmbedder(embedder, meters.passage_embedding_s), policies)
        self._meters = meters

    async def index(self, messages: Sequence[ArchivedMessage]) -> int:
        stored = await super().index(messages)
        self._meters.passages_indexed.inc(stored)
        return stored


class MeasuredLedger(Ledger):
    """Counts the usage of calls once it is booked."""

    def __init__(self, pool: Pool, meters: Meters) -> None:
        super().__init__(pool)
        self._meters = meters

    async def settle(
        self,
        reservation_id: str,
        consumed: Sequence[Consumed],
        spent: Mapping[str, Amount],
        limited: Collection[str] | None = None,
    ) -> None:
        await super().settle(reservation_id, consumed, spent, limited)
        self._meters.consumed(consumed)
