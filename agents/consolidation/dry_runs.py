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
from agents.extraction.erasure_filter import fences_on, without_erased
from agents.extraction.extractor import LEASE_S
from agents.extraction.records import candidate_batches
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
    """The services that dry runs share with the extractor."""

    provider: Provider
    related: RelatedMemories
    extractions: Extractions
    archive: Archive
    terms: WindowPolicies
    count_tokens: TokenCount


class Tally(NamedTuple):
    """The results of one conversation."""

    findings: list[Finding]
    counts: Counts
    request_ids: list[str]


class DryRunAgent:
    """Processes one dry run at a time. `worker` names this process; `forecast` opens a snapshot; `monotonic_s` is this
    process's clock for leases that cannot be renewed.

    When a worker dies, another one continues behind the last stored conversation.
    """

    def __init__(
        self,
        runs: DryRuns,
        services: ExtractionServices,
        forecast: Callable[[], Forecast],
        worker: str,
        clock: Callable[[], datetime],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runs = runs
        self._services = services
        self._forecast = forecast
        self._worker = worker
        self._clock = clock
        self._monotonic_s = monotonic_s
        self._running: asyncio.Task[None] | None = None

    async def tick(self) -> None:
        """Starts a dry run if there is one and none is running here; does not wait for its end. Raises Retryable."""
        if self._running is not None and not self._running.done():
            return
        if self._running is not None:
            running, self._running = self._running, None
            running.result()
        owner, claimed_at = f"{self._worker}/dry/{uuid4().hex}", self._monotonic_s()
        if (run := await self._runs.claim(owner, LEASE_S)) is not None:
            self._running = asyncio.create_task(self._process(run, owner, claimed_at))

    async def close(self) -> None:
        """Cancels the running dry run; another worker continues at once."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _process(self, run: ConsolidationRun, owner: str, claimed_at: float) -> None:
        what = f"dry run {run.run_id}"

        def renew() -> Awaitable[bool]:
            return self._runs.renew(run.run_id, owner, LEASE_S)

        try:
            async with renewed_lease(what, renew, LEASE_S, claimed_at, self._monotonic_s) as still_held:
                await self._conversations(run, still_held)
        except Retryable as exc:
            log.warning("%s stopped, and continues once its lease has expired: %s", what, exc)
        except MemstreamError as exc:
            # The detail may quote a conversation, and erasures do not search this table.
            failure = exc.reason if isinstance(exc, Rejected) else exc
            await self._runs.fail(run.run_id, self._clock(), f"stopped with the findings so far: {failure}")
        except Exception as exc:  # the run would fail on every worker and stop all of them
            log.exception("%s failed unexpectedly", what)
            await self._runs.fail(run.run_id, self._clock(), f"unforeseen: {type(exc).__name__}")
        except asyncio.CancelledError:
            async with ignore_retryable(what):
                await self._runs.release(run.run_id, owner)
            raise

    async def _conversations(self, run: ConsolidationRun, still_held: StillHeld) -> None:
        forecast = self._forecast()
        while (message_range := await self._runs.next(run.run_id)) is not None:
            tally = await self._conversation(run, message_range, forecast)
            if not still_held():
                return
            await self._runs.store(run.run_id, message_range, *tally, self._clock())
        await self._runs.finish(run.run_id, self._clock())

    async def _conversation(self, run: ConsolidationRun, message_range: ConversationRange, forecast: Forecast) -> Tally:
        findings, results, seen = list[Finding](), Counter[str](), set[tuple[str, str]]()
        failed, request_ids = 0, list[str]()
        async for request in self._requests(run, message_range):
            request_ids.append(request.request_id)
            try:
                answer = await self._answer(request)
            except Rejected as rejected:
                log.info("dry run %s: the model did not answer for one slice: %s", run.run_id, rejected)
                failed += 1
                continue
            seen.add((answer.provider, answer.model))
            for batch in candidate_batches(request, answer, self._clock()):
                foreseen = await forecast.decide(batch, self._policy(message_range.scope))
                findings += findings_of(batch, foreseen)
        results.update(finding.result for finding in findings)
        counts = Counts(
            requests=len(request_ids),
            failed_requests=failed,
            providers=tuple(sorted({provider for provider, _ in seen})),
            models=tuple(sorted({model for _, model in seen})),
            **results,
        )
        return Tally(findings, counts, request_ids)

    async def _requests(
        self, run: ConsolidationRun, message_range: ConversationRange
    ) -> AsyncIterator[ExtractionRequest]:
        policy = self._policy(message_range.scope)
        async for request in self._slices(message_range, policy):
            if run.namespace is not None and run.namespace not in request.namespaces:
                continue  # no speaker of the slice feeds the namespace
            fenced = await fences_on(self._services.extractions, request, request.namespaces)
            if (spared := without_erased(request, fenced)).messages:
                yield for_dry_run(spared, run.run_id, run.namespace)

    async def _slices(self, message_range: ConversationRange, policy: Policy) -> AsyncIterator[ExtractionRequest]:
        """Cuts each portion of messages into slices. The last slice of a portion may be incomplete and is cut again with the
        next portion."""
        while waiting := await self._runs.waiting(message_range):
            before = await self._before(message_range, waiting[0].position, policy)
            made = requests(message_range.scope, before, waiting, policy, self._services.count_tokens, self._clock())
            if len(made) > 1 and waiting[-1].position < message_range.last:
                made.pop()
            for request in made:
                yield request
            message_range = message_range._replace(first=made[-1].last + 1)

    async def _before(
        self, message_range: ConversationRange, position: int, policy: Policy
    ) -> Sequence[ArchivedMessage]:
        if not policy.overlap_messages:
            return ()
        place, limit = (message_range.partition, position), policy.overlap_messages
        earlier = await self._services.archive.page(
            message_range.scope.conversation_id, beyond=place, limit=limit, backwards=True
        )
        return [each for each in reversed(earlier) if each.partition == message_range.partition]

    def _policy(self, scope: Scope) -> Policy:
        return self._services.terms.policy(scope)

    async def _answer(self, request: ExtractionRequest) -> Answer:
        policy = self._policy(request.scope)
        context = Context(policy=policy, related=await self._services.related.of(request, policy))
        return await self._services.provider.extract(request, context)


def findings_of(batch: CandidateBatch, foreseen: ForecastResult) -> list[Finding]:
    """The foreseen result of each candidate of a batch."""
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
