"""Dry runs on a real database forecast the outcome of waiting conversations and write only their findings."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from msgspec.structs import replace

from agents.consolidation.dry_runs import DryRunAgent, ExtractionServices
from agents.consolidation.requests import manual_run
from agents.consolidation.scheduler import Scheduler
from agents.curation.editor import Editor
from agents.curation.forecast import Forecast
from agents.extraction.related import RelatedMemories
from agents.models.offline.provider import OfflineProvider
from agents.models.port import Answer, Context
from agents.windows.terms import WindowTerms
from schemas.consolidation.runs import ConsolidationRun, Counts, Finding, RunRequest
from schemas.errors import Deferred, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.commands import Command
from schemas.policies.policies import Policies, Policy
from sinks.archive.messages import Archive
from sinks.consolidation.dry_runs import DryRuns
from sinks.consolidation.runs import Runs
from sinks.extraction.answers import Extractions
from sinks.postgres.connection import connect
from sinks.postgres.leaders import Leadership
from sinks.windows.projection import Windows
from streams.windows.tokens.model_limits import ModelLimits
from tests.builders.archived_messages import archived_message
from tests.deployment import eventually
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.windows import a_state

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POLICIES = Policies((Policy(name="p", namespaces=("n", "{app_id}/{user_id}"), complete=False),))
UNTOUCHED = (
    "namespaces",
    "memories",
    "memory_versions",
    "outbox",
    "extractions",
    "extraction_parts",
    "parked",
    "windows",
)


class Failing(OfflineProvider):
    """The rules; `failures` are raised first, one a call, each once `released`. What is proposed contradicts what `contradicts`
    says by its text."""

    def __init__(self) -> None:
        super().__init__()
        self.failures: list[Exception] = []
        self.contradicts: dict[str, str] = {}
        self.requests: list[ExtractionRequest] = []
        self.released = asyncio.Event()
        self.released.set()

    async def asked(self) -> bool:
        return bool(self.requests)

    async def extract(self, request: ExtractionRequest, context: Context) -> Answer:
        self.requests.append(request)
        await self.released.wait()
        if self.failures:
            raise self.failures.pop(0)
        answer = await super().extract(request, context)
        proposals = [replace(each, contradicts=self.contradicts.get(each.text)) for each in answer.proposals]
        return replace(answer, proposals=tuple(proposals))


class Governing(NamedTuple):
    now: Policies


class Rehearsal:
    """A worker's scheduler and dry runs, and conversations for them."""

    def __init__(self, bench: "Bench") -> None:
        self.bench, self.pool, self.now = bench, bench.pool, NOON
        self.runs = Runs(bench.pool)
        self.provider = Failing()
        leading = Leadership(self.pool, "scheduler", "w")
        self.scheduler = Scheduler(leading, Governing(POLICIES), bench.publisher, lambda: self.now)
        self.agent = self.another()

    def another(self, policies: Policies = POLICIES, **limits: Any) -> DryRunAgent:
        memories, provider = self.bench.memories, self.provider
        services = ExtractionServices(
            provider=provider,
            related=RelatedMemories(FakeEmbedder(), self.bench.vectors, memories),
            extractions=Extractions(self.pool),
            archive=Archive(self.pool),
            terms=WindowTerms(policies, ModelLimits(1_000, {})),
            count_tokens=lambda text: len(text.split()),
        )

        def forecast() -> Forecast:
            return Forecast(self.pool, self.bench.vectors, FakeEmbedder(), Editor(provider), lambda: self.now)

        return DryRunAgent(DryRuns(self.pool, **limits), services, forecast, "w", lambda: self.now)

    async def said(self, conversation: str, *texts: str) -> None:
        said_at = NOON + timedelta(minutes=30)
        await Archive(self.pool).store(
            [
                archived_message(conversation, at, timestamp=said_at, content=text, app_id="app", user_id="user")
                for at, text in enumerate(texts)
            ]
        )
        await Windows(self.pool).project([a_state(conversation)])

    async def request_run(self, **wanted: Any) -> str:
        self.now += timedelta(seconds=1)
        run = manual_run(RunRequest(dry_run=True, **wanted), (), "ada", self.now)
        await self.runs.add(run)
        await self.scheduler.tick()
        return run.run_id

    async def finished(
        self, run_id: str, agent: DryRunAgent | None = None
    ) -> tuple[ConsolidationRun, tuple[Finding, ...]]:
        """Waits until its worker has nothing left to do about it."""
        agent = agent or self.agent
        await agent.tick()
        assert agent._running is not None
        await asyncio.wait({agent._running}, timeout=30)
        run = await self.runs.of(run_id)
        assert run is not None
        return run, await self.runs.findings(run_id)

    async def rows(self) -> dict[str, list[Any]]:
        return {table: await self.pool.fetch(f"SELECT * FROM {table} ORDER BY 1, 2") for table in UNTOUCHED}


@pytest.fixture
def rehearsal(bench: "Bench") -> Rehearsal:
    return Rehearsal(bench)


async def test_a_dry_run_for_a_personal_namespace_covers_only_statements_of_that_person(rehearsal: Rehearsal) -> None:
    turns = (("user", "I prefer TypeScript."), ("bob", "I'm allergic to peanuts."))
    said = [
        archived_message("both", at, timestamp=NOON, content=text, app_id="app", user_id=user_id)
        for at, (user_id, text) in enumerate(turns)
    ]
    await Archive(rehearsal.pool).store(said)
    await Windows(rehearsal.pool).project([a_state("both")])
    run, findings = await rehearsal.finished(await rehearsal.request_run(namespace="app/bob"))
    assert (run.conversations, [each.text for each in findings]) == (1, ["User is allergic to peanuts."])


async def test_a_dry_run_reports_created_reinforced_and_superseded_memories_and_writes_nothing(
    rehearsal: Rehearsal,
) -> None:
    ghent = await rehearsal.bench.remember("User lives in Ghent.")
    rehearsal.provider.contradicts = {"User moved from Ghent to Lisbon.": ghent.memory_id}
    await rehearsal.bench.remember("User prefers TypeScript.", kind="preference")
    await rehearsal.said("a", "I prefer TypeScript.", "I'm allergic to peanuts.")
    await rehearsal.said("b", "I'm allergic to peanuts.", "I moved from Ghent to Lisbon.")
    before = await rehearsal.rows()
    run, findings = await rehearsal.finished(await rehearsal.request_run(namespace="n"))
    assert await rehearsal.rows() == before
    assert (run.status, run.conversations, run.processed, run.requests) == ("completed", 2, 2, 2)
    assert (run.providers, run.models, run.error) == (("offline",), ("rules-3",), None)
    outcomes = [(each.conversation_id, each.result, each.text, each.known) for each in findings]
    assert outcomes == [
        ("a", "reinforced", "user prefers TypeScript.", "User prefers TypeScript."),
        ("a", "created", "user is allergic to peanuts.", None),
        ("b", "reinforced", "user is allergic to peanuts.", None),
        ("b", "superseded", "user moved from Ghent to Lisbon.", "User lives in Ghent."),
    ]
    assert (run.created, run.reinforced, run.superseded) == (1, 2, 1)
    assert {each.namespace for each in findings} == {"n"}, "no other namespace of the conversations is meant"
    assert findings[0].message_ids == ("a-0",) and findings[0].memory_id is not None
    assert "flush" not in {control.kind for control in rehearsal.bench.controls()}, "no window is asked for anything"


async def test_a_dry_run_without_a_namespace_covers_all_namespaces_of_the_conversation(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    _, findings = await rehearsal.finished(await rehearsal.request_run(conversation_id="a"))
    assert [each.namespace for each in findings] == ["n", "app/user"]


async def test_each_dry_run_sends_its_own_model_request_and_stores_no_extraction(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    await rehearsal.finished(await rehearsal.request_run(policy="p"))
    await rehearsal.finished(await rehearsal.request_run(policy="p"))
    first, again = rehearsal.provider.requests
    assert first.request_id != again.request_id and (first.lane, first.overlap) == ("background", ())
    assert await rehearsal.pool.fetchval("SELECT count(*) FROM extractions") == 0


async def test_a_dry_run_covers_at_most_the_requested_number_of_conversations(rehearsal: Rehearsal) -> None:
    for name in "abc":
        await rehearsal.said(name, "I'm allergic to peanuts.")
    run, findings = await rehearsal.finished(await rehearsal.request_run(most=2, conversation_id=None))
    assert (run.conversations, run.processed) == (2, 2)
    assert {each.conversation_id for each in findings} == {"a", "b"}


async def test_slices_are_the_same_when_messages_are_read_in_small_pages(
    rehearsal: Rehearsal,
) -> None:
    small = Policies((replace(POLICIES.listed[0], slice_tokens=100, overlap_messages=1),))
    await rehearsal.said("a", *("word " * (30 + 7 * (number % 5)) for number in range(23)))
    cuts = []
    for limits in ({}, {"messages": 5}, {"messages": 1}):
        await rehearsal.finished(await rehearsal.request_run(namespace="n"), rehearsal.another(small, **limits))
        cuts.append([(each.first, each.last, each.overlap) for each in rehearsal.provider.requests])
        rehearsal.provider.requests.clear()
    whole, by_five, one_by_one = cuts
    assert len(whole) > 5 and by_five == whole
    assert [(first, last) for first, last, _ in one_by_one] == [(at, at) for at in range(23)]


async def test_a_rejected_slice_is_counted_as_failed_and_the_other_slices_are_reported(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    await rehearsal.said("b", "I'm allergic to peanuts.")
    rehearsal.provider.failures = [Rejected("refused", "no")]
    run, findings = await rehearsal.finished(await rehearsal.request_run(namespace="n"))
    assert (run.status, run.failed_requests, run.created, len(findings)) == ("completed", 1, 1, 1)
    assert run.error and run.error.startswith("1 of 2 requests")


async def test_a_dry_run_without_remaining_budget_fails_with_the_reason(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    rehearsal.provider.failures = [Deferred(NOON, "budget")]
    run, _ = await rehearsal.finished(await rehearsal.request_run(namespace="n"))
    assert run.status == "failed" and run.error and "budget: waits until 2026-03-01T12:00:00" in run.error


async def test_an_unexpected_exception_fails_the_dry_run_and_not_the_worker(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    rehearsal.provider.failures = [KeyError("what")]
    run, _ = await rehearsal.finished(await rehearsal.request_run(namespace="n"))
    assert run.status == "failed" and run.error == "unforeseen: KeyError"
    await rehearsal.agent.tick()


async def test_another_worker_resumes_a_dry_run_after_the_last_stored_conversation(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    await rehearsal.said("b", "I prefer TypeScript.")
    run_id = await rehearsal.request_run(namespace="n")
    rehearsal.provider.failures = [Retryable("an outage")]
    run, findings = await rehearsal.finished(run_id)
    assert (run.status, findings) == ("running", ())
    await rehearsal.pool.execute("UPDATE consolidation_runs SET lease_until = clock_timestamp()")
    run, findings = await rehearsal.finished(run_id, rehearsal.another())
    assert (run.status, len(findings)) == ("completed", 2)


async def test_a_dry_run_keeps_its_lease_while_every_connection_of_the_stage_is_taken(
    rehearsal: Rehearsal, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.consolidation.dry_runs.LEASE_S", 1.0)
    await rehearsal.said("a", "I'm allergic to peanuts.")
    run_id = await rehearsal.request_run(namespace="n")
    rehearsal.provider.released.clear()
    async with await connect(dsn, max_size=1) as leases, AsyncExitStack() as taken:
        running = asyncio.ensure_future(rehearsal.finished(run_id, rehearsal.another(leases=leases)))
        await eventually(rehearsal.provider.asked, "the model is asked")
        for _ in range(rehearsal.pool.get_max_size()):
            await taken.enter_async_context(rehearsal.pool.acquire())
        at = await leases.fetchval("SELECT clock_timestamp() + interval '2 seconds'")
        renewed = "SELECT lease_until > $1 FROM consolidation_runs"
        await eventually(lambda: leases.fetchval(renewed, at), "the lease is renewed after it would have ended")
        assert await DryRuns(leases).claim("two", 1.0) is None
        await taken.aclose()
        rehearsal.provider.released.set()
        run, findings = await running
    assert (run.status, len(findings)) == ("completed", 1)


async def test_a_paused_worker_that_stores_late_adds_no_duplicate_findings(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    run_id = await rehearsal.request_run(namespace="n")
    runs = DryRuns(rehearsal.pool)
    stretch = await runs.next(run_id)
    assert stretch is not None
    run, (finding,) = await rehearsal.finished(run_id)
    late = Counts(requests=7, created=7)
    await runs.store(run_id, stretch, [finding, finding], late, ["late"], rehearsal.now)
    assert await rehearsal.runs.findings(run_id) == (finding,)
    assert await rehearsal.runs.of(run_id) == run


async def test_a_conversation_erased_after_the_dry_run_was_requested_has_no_findings(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    await rehearsal.said("b", "I prefer TypeScript.")
    run_id = await rehearsal.request_run(namespace="n")
    await rehearsal.pool.execute(
        "INSERT INTO erasures (erasure_id, kind, conversation_id, at, actor) VALUES ('e', 'conversation', 'a', $1, 'ada')",
        rehearsal.now,
    )
    await rehearsal.pool.execute("INSERT INTO erased_conversations VALUES ('a', 'e')")
    _, findings = await rehearsal.finished(run_id)
    assert [each.conversation_id for each in findings] == ["b"]


async def test_a_finding_contains_the_text_of_its_memory_until_the_memory_is_deleted(rehearsal: Rehearsal) -> None:
    known = await rehearsal.bench.remember("User prefers TypeScript.")
    await rehearsal.said("a", "I prefer TypeScript.")
    run_id = await rehearsal.request_run(namespace="n")
    _, (finding,) = await rehearsal.finished(run_id)
    assert (finding.memory_id, finding.known) == (known.memory_id, "User prefers TypeScript.")
    await rehearsal.pool.execute("UPDATE memories SET status = 'deleted'")
    (finding,) = await rehearsal.runs.findings(run_id)
    assert finding.known is None


async def test_erasing_a_namespace_deletes_its_findings_and_a_pending_dry_run_adds_none(rehearsal: Rehearsal) -> None:
    await rehearsal.said("a", "I'm allergic to peanuts.")
    first, later = await rehearsal.request_run(policy="p"), await rehearsal.request_run(policy="p")
    await rehearsal.finished(first)
    purge = Command(command_id="x", kind="purge", namespace="n", at=rehearsal.now)
    await rehearsal.bench.curator_under(POLICIES, clock=lambda: rehearsal.now).apply_command(purge)
    assert {each.namespace for each in await rehearsal.runs.findings(first)} == {"app/user"}
    _, findings = await rehearsal.finished(later)
    assert {each.namespace for each in findings} <= {"app/user"}
