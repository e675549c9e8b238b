"""A call reserves its maximum cost before it is sent, and is billed its usage whatever the outcome."""

import asyncio
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from agents.models.billing import Payer
from agents.models.calls.cost_bounds import CostBounds
from agents.models.claude.provider import ClaudeProvider
from agents.models.model_provider import ModelProvider
from agents.models.port import Context, MemoryToRate, Usage
from agents.models.prompts import compaction, rating, shortening
from agents.models.prompts.questions import MIN_ANSWER_TOKENS, extraction_question, summary_question
from schemas.budgets.budgets import Budget
from schemas.errors import Deferred, Rejected, Retryable
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, known, slice_of
from tests.fakes.budget_guard import FakeBudgetGuard
from tests.fakes.calls import FakeCalls
from tests.fakes.clock import settled
from tests.servers.messages import KEY, MessagesServer

SLICE = replace(slice_of("I am allergic to peanuts.", "I prefer tea over coffee."), lane="background")
BUDGET = Budget(tokens_per_day=5)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def energy() -> FakeBudgetGuard:
    return FakeBudgetGuard()


@pytest.fixture
async def claude(server: MessagesServer, energy: FakeBudgetGuard):
    provider = ClaudeProvider(
        "claude-test-1", api_key=KEY, base_url=server.url, timeout_s=5.0, max_retries=0, budget_guard=energy,
        compaction_model="claude-test-2",
    )  # fmt: skip
    yield provider
    await provider.close()


def billed(energy: FakeBudgetGuard) -> list[Usage]:
    ((_, bills, _),) = energy.settled
    return [bill.usage for bill in bills]


async def test_a_call_reserves_its_maximum_cost_with_operation_and_payer_and_is_billed_its_usage(claude, energy):
    answer = await claude.extract(SLICE, knowing())
    (work,) = energy.priced_work
    assert (work.operation, work.provider, work.model) == ("extract", "claude", "claude-test-1")
    assert work.payer.lane == "background"
    assert (work.payer.namespaces, work.payer.request_id) == (SLICE.namespaces, SLICE.request_id)
    assert work.max_usage.cache_write_tokens > answer.usage.input_tokens + answer.usage.cache_write_tokens
    assert work.max_usage.output_tokens > answer.usage.output_tokens
    assert billed(energy) == [answer.usage]
    assert energy.settled[0][2] == "answered"


async def test_no_request_is_sent_if_the_budget_is_spent(claude, energy, server):
    energy.refusals.append(Deferred(NOON, "budget"))
    with pytest.raises(Deferred):
        await claude.extract(SLICE, knowing())
    assert server.seen == []
    assert energy.settled == []


async def test_a_failed_repair_is_billed_as_well_as_the_first_call(claude, energy, server):
    server.script("text:no", "text:never")
    with pytest.raises(Rejected, match="unreadable"):
        await claude.extract(SLICE, knowing())
    first, second = billed(energy)
    assert first.output_tokens and second.output_tokens
    assert energy.settled[0][2] == "failed"


async def test_a_refusal_is_billed_too(claude, energy, server):
    server.script("refusal")
    with pytest.raises(Rejected, match="refused"):
        await claude.extract(SLICE, knowing())
    (usage,) = billed(energy)
    assert usage.input_tokens + usage.cache_write_tokens > 0


async def test_an_outage_is_not_billed_and_releases_the_reservation(claude, energy, server):
    server.script("server_error")
    with pytest.raises(Retryable):
        await claude.extract(SLICE, knowing())
    assert energy.settled == [(energy.priced_work[0], (), "failed")]


async def test_a_cancelled_call_releases_the_reservation(energy):
    calls = FakeCalls(takes_s=60)
    calling = asyncio.create_task(ModelProvider(calls, budget_guard=energy).extract(SLICE, knowing()))
    await settled()
    assert calls.running
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert [(bills, outcome) for _, bills, outcome in energy.settled] == [((), "failed")]


def test_the_namespaces_of_a_slice_pay_for_extraction_and_those_of_the_conversation_for_summaries():
    policy = Policy(name="p", namespaces=("{app_id}", "{conversation_id}"), budget=BUDGET)
    feeding = extraction_question(replace(SLICE, namespaces=("a", "b")), Context(policy=policy)).payer
    assert (feeding.namespaces, feeding.budget, feeding.lane) == (("a", "b"), BUDGET, "background")
    left = replace(SLICE, namespaces=(), purpose="summarise", lane="live")
    telling = summary_question(left, policy).payer
    assert (telling.namespaces, telling.lane) == (("conversation-1",), "live")
    assert (telling.request_id, telling.conversation_id) == (SLICE.request_id, "conversation-1")


def test_the_namespace_of_a_memory_pays_for_maintenance_calls_in_the_background_lane():
    policy = Policy(name="p", budget=BUDGET)
    paying = Payer(namespaces=("app/user",), budget=BUDGET, lane="background")
    assert compaction.question([known("one"), known("two")], policy, words).payer == paying
    subject = MemoryToRate(text="one", kind="fact", namespace="app/user")
    assert rating.question(subject, policy).payer == paying
    assert shortening.question("one", policy, words, "app/user").payer == paying
    nobody = Payer(budget=BUDGET, lane="background")
    assert rating.question(replace(subject, namespace=None), policy).payer == nobody
    assert shortening.question("one", policy, words).payer == nobody


def test_the_maximum_cost_of_a_question_is_two_calls_at_their_most_expensive():
    question = extraction_question(slice_of("tea " * 1_000), knowing())
    calls, counted = FakeCalls(), words(question.stable) + words(question.policy) + words(question.user_prompt)
    most = CostBounds(words).of(calls, question)
    assert most.cache_write_tokens >= 2 * 1.6 * counted + MIN_ANSWER_TOKENS
    assert most.output_tokens == MIN_ANSWER_TOKENS + calls.max_reply_tokens
    assert most.input_tokens == most.cache_read_tokens == 0


def test_a_text_that_is_too_long_to_count_is_estimated():
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return 1

    question = replace(extraction_question(SLICE, knowing()), user_prompt="tea " * 20_000)
    most = CostBounds(count).of(FakeCalls(), question)
    assert question.user_prompt not in counted
    assert most.cache_write_tokens > 80_000 / 3
