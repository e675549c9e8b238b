"""Dry runs: asks the model about waiting messages, applies the curator's rules without writing, and stores the findings."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import uuid4

from msgspec import Struct

from agents.consolidation.slices import for_dry_run, requests
from agents.curation.forecast import Forecast, ForecastResult
from agents.extraction.erased import fences_on, without_erased
from agents.extraction.extractor import LEASE_S
from agents.extraction.records import candidate_batch
from agents.extraction.related import RelatedMemories
from agents.models.port import Answer, Context, Provider
from agents.stage.leases import StillHeld, ignore_retryable, renewed_lease
from schemas.consolidation.runs import ConsolidationRun, Counts, Finding
from schemas.conversations.messages import Scope
from schemas.errors import MemstreamError, Rejected, Retryable
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.consolidation.dry_runs import ConversationRange, DryRuns
from sinks.extraction.answers import Extractions
from streams.windows.tokens.counting import TokenCount

log = logging.getLogger(__name__)


class WindowPolicies(Protocol):
    """agents.windows.terms.WindowTerms: the policy of a conversation, as its window has it."""

    def policy(self, scope: Scope) -> Policy: ...


class ExtractionServices(Struct, frozen=True, kw_only=True):
    """Whom dry runs ask, as the extractor does."""

    provider: Provider
    related: RelatedMemories
    extractions: Extractions
    archive: Archive
    terms: WindowPolicies
    count_tokens: TokenCount


class Tally(NamedTuple):
    """What one conversation came to."""

    findings: list[Finding]
    counts: Counts
    request_ids: list[str]


class DryRunAgent:
    """Carries out one dry run at a time. `worker` names this process; `forecast` begins a snapshot; `monotonic_s` is this
    process' clock, against which a lease that could not be renewed runs out.

    A worker that dies loses its lease, and another one goes on behind the last conversation that was stored.
    """

    def __init__(
        self,
        runs: DryRuns,
        asked: ExtractionServices,
        forecast: Callable[[], Forecast],
        worker: str,
        clock: Callable[[], datetime],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runs = runs
        self._asked = asked
        self._forecast = forecast
        self._worker = worker
        self._clock = clock
        self._monotonic_s = monotonic_s
        self._running: asyncio.Task[None] | None = None

    async def tick(self) -> None:
        """Takes one on if there is one and none is under way, and returns without waiting for its end. Raises Retryable."""
        if self._running is not None and not self._running.done():
            return
        if self._running is not None:
            running, self._running = self._running, None
            running.result()
        owner, claimed_at = f"{self._worker}/dry/{uuid4().hex}", self._monotonic_s()
        if (run := await self._runs.claim(owner, LEASE_S)) is not None:
            self._running = asyncio.create_task(self._carry_out(run, owner, claimed_at))

    async def close(self) -> None:
        """Ends what is still running; another worker goes on at once."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _carry_out(self, run: ConsolidationRun, owner: str, claimed_at: float) -> None:
        what = f"dry run {run.run_id}"

        def renew() -> Awaitable[bool]:
            return self._runs.renew(run.run_id, owner, LEASE_S)

        try:
            async with renewed_lease(what, renew, LEASE_S, claimed_at, self._monotonic_s) as still_held:
                await self._conversations(run, still_held)
        except Retryable as exc:
            log.warning("%s goes on when its lease has run out: %s", what, exc)
        except MemstreamError as exc:
            # A detail may quote what no erasure would find here.
            told = exc.reason if isinstance(exc, Rejected) else exc
            await self._runs.fail(run.run_id, self._clock(), f"stopped after what is found so far: {told}")
        except Exception as exc:  # this run would fail on every worker, and must not stop them all
            log.exception("%s fails for a reason nobody foresaw", what)
            await self._runs.fail(run.run_id, self._clock(), f"unforeseen: {type(exc).__name__}")
        except asyncio.CancelledError:
            async with ignore_retryable(what):
                await self._runs.release(run.run_id, owner)
            raise

    async def _conversations(self, run: ConsolidationRun, still_held: StillHeld) -> None:
        forecast = self._forecast()
        while (stretch := await self._runs.next(run.run_id)) is not None:
            tally = await self._conversation(run, stretch, forecast)
            if not still_held():
                return
            await self._runs.store(run.run_id, stretch, *tally, self._clock())
        await self._runs.finish(run.run_id, self._clock())

    async def _conversation(self, run: ConsolidationRun, stretch: ConversationRange, forecast: Forecast) -> Tally:
        findings, results, told = list[Finding](), Counter[str](), set[tuple[str, str]]()
        failed, request_ids = 0, list[str]()
        async for request in self._requests(run, stretch):
            request_ids.append(request.request_id)
            try:
                answer = await self._answer(request)
            except Rejected as rejected:
                log.info("in dry run %s a slice gets no answer: %s", run.run_id, rejected)
                failed += 1
                continue
            told.add((answer.provider, answer.model))
            for batch in batches(request, answer, self._clock()):
                foreseen = await forecast.decide(batch, self._policy(stretch.scope))
                findings += findings_of(batch, foreseen)
        results.update(finding.result for finding in findings)
        counts = Counts(
            requests=len(request_ids),
            failed_requests=failed,
            providers=tuple(sorted({provider for provider, _ in told})),
            models=tuple(sorted({model for _, model in told})),
            **results,
        )
        return Tally(findings, counts, request_ids)

    async def _requests(self, run: ConsolidationRun, stretch: ConversationRange) -> AsyncIterator[ExtractionRequest]:
        policy = self._policy(stretch.scope)
        async for request in self._slices(stretch, policy):
            if run.namespace is not None and run.namespace not in request.namespaces:
                continue  # nobody who speaks in it feeds that one
            fenced = await fences_on(self._asked.extractions, request, request.namespaces)
            if (spared := without_erased(request, fenced)).messages:
                yield for_dry_run(spared, run.run_id, run.namespace)

    async def _slices(self, stretch: ConversationRange, policy: Policy) -> AsyncIterator[ExtractionRequest]:
        """Of what is read together at a time. The last slice of that may reach further: it is cut again with what follows."""
        while waiting := await self._runs.waiting(stretch):
            before = await self._before(stretch, waiting[0].position, policy)
            made = requests(stretch.scope, before, waiting, policy, self._asked.count_tokens, self._clock())
            if len(made) > 1 and waiting[-1].position < stretch.last:
                made.pop()
            for request in made:
                yield request
            stretch = stretch._replace(first=made[-1].last + 1)

    async def _before(self, stretch: ConversationRange, position: int, policy: Policy) -> Sequence[ArchivedMessage]:
        if not policy.overlap_messages:
            return ()
        place, limit = (stretch.partition, position), policy.overlap_messages
        earlier = await self._asked.archive.page(
            stretch.scope.conversation_id, beyond=place, limit=limit, backwards=True
        )
        return [each for each in reversed(earlier) if each.partition == stretch.partition]

    def _policy(self, scope: Scope) -> Policy:
        return self._asked.terms.policy(scope)

    async def _answer(self, request: ExtractionRequest) -> Answer:
        policy = self._policy(request.scope)
        context = Context(policy=policy, related=await self._asked.related.of(request, policy))
        return await self._asked.provider.extract(request, context)


def batches(request: ExtractionRequest, answer: Answer, at: datetime) -> list[CandidateBatch]:
    """One a namespace, as the extractor makes them."""
    return [
        candidate_batch(request, answer, namespace, part, at)
        for part, namespace in enumerate(request.namespaces, start=1)
    ]


def findings_of(batch: CandidateBatch, foreseen: ForecastResult) -> list[Finding]:
    """What would become of each candidate of a batch."""
    findings = []
    for candidate, ruling in zip(batch.candidates, foreseen.rulings, strict=True):
        entries = [each for each in foreseen.entries if each.cause.candidate_id == candidate.candidate_id]
        changed = [each.before for each in entries if each.before is not None and each.change == ruling.result]
        known = changed[0] if changed else None
        findings.append(
            Finding(
                namespace=batch.namespace,
                conversation_id=batch.conversation_id,
                result=ruling.result,
                kind=candidate.kind,
                text=candidate.text,
                message_ids=tuple(source.message_id for source in candidate.sources),
                memory_id=known.memory_id if known else None,
                reason=ruling.reason,
            )
        )
    return findings
