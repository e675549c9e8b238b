"""Batches from parked request to published answer: real PostgreSQL, the real SDK, and a local Messages server."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from decimal import Decimal
from math import ceil
from typing import Any

import anthropic
import pytest
from msgspec.structs import replace

from agents.batch_agent import BatchAgent
from agents.dead_letters import told
from agents.energy import OVERALL, BudgetedEnergy
from agents.extractor import Extractor
from agents.llm.claude import ClaudeProvider
from agents.llm.port import Usage
from agents.llm.prices import Price, Prices
from agents.outcomes import Outcomes
from agents.parked_agent import ParkedAgent
from schemas import codec, ids, topics
from schemas.budgets import Amount, Budget
from schemas.errors import Deferred, Misconfigured, Retryable
from schemas.messages import Scope
from schemas.policies import Policies, Policy
from schemas.requests import CandidateBatch, Command, ExtractionRequest, WindowControl
from sinks.batches import Batches, Bounds
from sinks.energy import Ledger
from sinks.extractions import Extractions
from sinks.memories import Memories
from sinks.parked import Parking
from sinks.postgres import Pool
from tests.fakes.batches import record
from tests.fakes.provider import FakeRelated
from tests.fakes.publisher import FakePublisher
from tests.integration.sinks.conftest import Bench
from tests.messages_server import KEY, MODELS, MessagesServer
from tests.slices import slice_of

POLICY = Policy(name="nightly", batch=True)
AT_ONCE = Bounds(requests=100, bytes=1_000_000, wait_s=0.0)
DAY_S = 86_400.0
PLENTY = Budget(tokens_per_hour=10_000_000)
PRICE = Price(
    model=MODELS[0], input=Decimal(1), output=Decimal(5), cache_write=Decimal("1.25"), cache_read=Decimal("0.1")
)
PRICES = Prices(as_of=date(2026, 11, 1), source="made up", models=(PRICE,))


def now() -> datetime:
    return datetime.now(UTC)


def asked(number: int, text: str = "I live in Town{}.") -> ExtractionRequest:
    request_id, scope = ids.derive("batched", number), Scope(conversation_id=f"c{number}")
    return replace(
        slice_of(text.format(number)), request_id=request_id, scope=scope, policy=POLICY.name, lane="background"
    )


class Worker:
    """What of a worker has to do with batches; several share a database and a server."""

    def __init__(
        self,
        pool: Pool,
        server: MessagesServer,
        name: str = "one",
        policy: Policy = POLICY,
        client: anthropic.AsyncAnthropic | None = None,
        overall: Budget | None = None,
    ) -> None:
        self.pool = pool
        self.client = client or anthropic.AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0, timeout=5.0)
        self.ledger = Ledger(pool)
        self.energy = BudgetedEnergy(self.ledger, PRICES, overall or PLENTY, now)
        self.provider = ClaudeProvider(MODELS[0], client=self.client, energy=self.energy)
        self.batches = Batches(pool)
        self.parking, self.publisher, self.related = Parking(pool), FakePublisher(), FakeRelated()
        extractions, policies, self.memories = Extractions(pool), Policies((policy,)), Memories(pool)
        outcomes = Outcomes(extractions, self.publisher, now)
        extractor = Extractor(extractions, self.provider, self.related, self.publisher, policies, now)
        self.resuming = ParkedAgent(self.parking, extractor, outcomes, name, {"live": 4, "background": 4})
        self.agent = BatchAgent(
            *(self.batches, self.provider.batches(), extractor, outcomes, self.memories, policies, name, now),
            bounds=AT_ONCE,
            poll_s=3_600.0,
        )

    async def park(self, *requests: ExtractionRequest, deadline_s: float = DAY_S) -> None:
        for request in requests:
            sent = record(topics.REQUESTS, request.first, codec.encode(request), key=b"c")
            await self.parking.park(sent, request, Deferred(now(), "batch"), deadline_s, batched=True)

    async def resume(self) -> None:
        """Answers what is asked alone, to the end."""
        await self.resuming.tick()
        while any(self.resuming._running.values()):
            await asyncio.sleep(0.01)
            await self.resuming.tick()

    async def look(self) -> None:
        """As if the time had come to look at every batch."""
        await self.pool.execute("UPDATE batches SET look_at = now()")
        await self.agent.tick()

    async def booked(self) -> list[dict[str, Any]]:
        """What the calls consumed, one record each."""
        return [dict(row) for row in await self.pool.fetch("SELECT * FROM model_usage ORDER BY at")]

    async def reserved(self) -> Amount:
        """What of the budget of all together is kept for batches."""
        return (await self.ledger.levels([OVERALL]))[OVERALL].reserved

    async def count(self, table: str, where: str = "true") -> int:
        return int(await self.pool.fetchval(f"SELECT count(*) FROM {table} WHERE {where}"))

    @property
    def remembered(self) -> list[str]:
        """Texts of the candidates that were published."""
        published = [codec.decode(each.value, CandidateBatch) for each in self.publisher.on(topics.CANDIDATES)]
        return sorted(candidate.text for batch in published for candidate in batch.candidates)


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    async with MessagesServer() as server:
        yield server


@pytest.fixture
async def worker(pool: Pool, server: MessagesServer) -> AsyncIterator[Worker]:
    worker = Worker(pool, server)
    yield worker
    await worker.resuming.close()
    await worker.client.close()


@pytest.fixture
async def another(pool: Pool, server: MessagesServer) -> AsyncIterator[Worker]:
    """A worker that is started later."""
    another = Worker(pool, server, "another")
    yield another
    await another.resuming.close()
    await another.client.close()


def lives_in(*numbers: int) -> list[str]:
    return [f"User lives in Town{number}." for number in numbers]


async def test_the_erasure_of_a_namespace_gives_back_what_was_kept_for_its_requests_of_a_batch(
    worker: Worker, bench: Bench
) -> None:
    request = replace(asked(1), namespaces=("n",))
    await worker.park(request)
    await worker.agent.tick()
    assert (await worker.reserved()).tokens > 0
    await bench.curator.carry_out(Command(command_id="p", kind="purge", namespace="n", at=now()))
    assert await worker.count("parked") == 0
    assert await worker.reserved() == Amount()


async def test_a_member_that_is_no_request_holds_up_no_other(worker: Worker) -> None:
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    await worker.pool.execute("UPDATE parked SET headers = '{}'::jsonb WHERE request_id = $1", asked(1).request_id)
    await worker.look()
    assert worker.remembered == lives_in(2)
    assert await worker.count("parked", "not_before = 'infinity'") == 1


async def test_requests_are_asked_together_and_each_answer_is_stored_and_published(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1), asked(2), asked(3))
    await worker.agent.tick()
    (batch,) = server.batches.made.values()
    assert set(batch.requests) == {asked(number).request_id for number in (1, 2, 3)}
    await worker.look()
    assert worker.remembered == lives_in(1, 2, 3)
    assert await worker.count("parked") == 0
    assert server.seen == []
    usage = await worker.pool.fetch("SELECT provider, model, usage FROM extractions WHERE answer IS NOT NULL")
    assert [(row["provider"], row["model"], row["usage"]["batched"]) for row in usage] == 3 * [
        ("claude", MODELS[0], True)
    ]


async def test_a_batch_that_is_not_ended_is_looked_at_again_more_and_more_seldom(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.ends_at_poll = 3
    await worker.park(asked(1))
    await worker.agent.tick()
    worker.agent._poll_s = 60.0
    pauses = []
    for _ in range(2):
        await worker.look()
        pauses.append(await worker.pool.fetchval("SELECT extract(epoch FROM look_at - now()) FROM batches"))
        assert worker.remembered == []
    assert 55 < pauses[0] < 65 and 85 < pauses[1] < 95
    await worker.look()
    assert worker.remembered == lives_in(1)


async def test_a_batch_is_collected_by_another_worker_after_a_restart(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    await another.look()
    assert another.remembered == lives_in(1, 2)
    assert len(server.batches.made) == 1


async def test_a_worker_that_dies_while_it_collects_leaves_the_rest_to_another(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(*(asked(number) for number in range(1, 6)))
    await worker.agent.tick()
    taken = 0
    published = worker.publisher.publish

    async def publish(records: Any) -> None:
        nonlocal taken
        taken += 1
        if taken == 3:
            raise asyncio.CancelledError
        await published(records)

    worker.publisher.publish = publish  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await worker.look()
    assert len(worker.remembered) == 2
    await worker.pool.execute("UPDATE batches SET lease_until = now()")
    await another.look()
    assert sorted(worker.remembered + another.remembered) == lives_in(1, 2, 3, 4, 5)
    assert await worker.count("parked") == 0


async def test_the_memories_that_a_prompt_showed_are_those_that_its_reply_names(
    worker: Worker, server: MessagesServer, bench: Bench
) -> None:
    shown = [await bench.remember(text) for text in ("User likes chess.", "User drinks coffee.")]
    worker.related.memories = tuple(shown)
    await worker.park(asked(1, "I prefer tea over coffee."))
    server.batches.script(
        'text:{"memories":[{"kind":"fact","text":"User drinks tea.","messages":[1],"confidence":0.9,"contradicts":2}]}'
    )
    await worker.agent.tick()
    worker.related.memories = ()
    await bench.pool.execute("DELETE FROM memories WHERE memory_id = $1", shown[0].memory_id)
    await worker.look()
    (part,) = [codec.decode(each.value, CandidateBatch) for each in worker.publisher.on(topics.CANDIDATES)]
    assert part.candidates[0].contradicts == shown[1].memory_id


@pytest.mark.parametrize("step", ["expired", "canceled", "overloaded", "server_error", "rate_limited", "no_credit"])
async def test_a_request_without_a_reply_is_asked_alone(worker: Worker, server: MessagesServer, step: str) -> None:
    server.batches.script("rules", step)
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)
    await worker.resume()
    assert worker.remembered == lives_in(1, 2)
    assert len(server.seen) == 1
    assert await worker.count("parked") == 0


@pytest.mark.parametrize(("step", "reason"), [("refusal", "refused"), ("bad_request", "refused_request")])
async def test_a_request_that_can_never_be_answered_is_a_dead_letter_and_its_window_is_told(
    worker: Worker, server: MessagesServer, step: str, reason: str
) -> None:
    server.batches.script(step)
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    await worker.look()
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert told(letter.headers)["reason"] == reason
    assert codec.decode(letter.value, ExtractionRequest) == asked(1)
    (control,) = [codec.decode(each.value, WindowControl) for each in worker.publisher.on(topics.WINDOW_CONTROL)]
    assert (control.kind, control.request_id) == ("extraction_failed", asked(1).request_id)
    assert worker.remembered == lives_in(2)
    assert await worker.count("parked") == 0


@pytest.mark.parametrize("step", ["text:I would rather not.", "truncated"])
async def test_a_reply_that_is_not_whole_is_mended_by_one_call(
    worker: Worker, server: MessagesServer, step: str
) -> None:
    server.batches.script(step)
    await worker.park(asked(1))
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)
    assert len(server.seen) == 1
    usage = await worker.pool.fetchval("SELECT usage FROM extractions")
    assert not usage.get("batched"), "not all of it has the price of batches"


async def test_a_reply_that_cannot_be_mended_now_is_mended_later_and_the_others_do_not_wait(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.script("text:no", "rules")
    server.script("overloaded")
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(2)
    await worker.look()
    assert worker.remembered == lives_in(1, 2)
    assert len(server.batches.made) == 1


async def test_a_batch_that_is_refused_for_now_is_made_again(worker: Worker, server: MessagesServer) -> None:
    server.batches.faults.append("rate_limited")
    await worker.park(asked(1))
    await worker.agent.tick()
    assert await worker.count("batches") == 0
    await worker.pool.execute("UPDATE parked SET not_before = now()")
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)


async def test_a_batch_that_is_refused_for_good_is_asked_one_by_one(worker: Worker, server: MessagesServer) -> None:
    server.batches.faults.append("bad_request")
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    await worker.resume()
    assert worker.remembered == lives_in(1, 2)
    assert len(server.seen) == 2


async def test_a_wrong_key_stops_the_agent_and_loses_nothing(worker: Worker, server: MessagesServer) -> None:
    server.batches.faults.append("unauthorized")
    await worker.park(asked(1))
    with pytest.raises(Misconfigured):
        await worker.agent.tick()
    assert await worker.count("parked", "batched AND batch_key IS NULL") == 1


async def test_a_conversation_that_must_stay_is_not_sent_in_a_batch(worker: Worker, server: MessagesServer) -> None:
    worker.client.base_url = "http://elsewhere.example"  # type: ignore[assignment]
    elsewhere = Worker(worker.pool, server, policy=replace(POLICY, local_only=True), client=worker.client)
    await elsewhere.park(asked(1))
    await elsewhere.agent.tick()
    (letter,) = elsewhere.publisher.on(topics.DEAD_LETTERS)
    assert told(letter.headers)["reason"] == "must_stay"
    assert server.batches.made == {}


async def test_a_batch_that_was_taken_without_anybody_knowing_is_found_and_not_sent_again(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    """The worker dies between the provider's answer and storing its id; somebody else's batch of the same size is there."""
    await worker.park(asked(1), asked(2))
    await dies_once_it_was_taken(worker)
    server.batches.submitted([{"custom_id": f"theirs-{n}", "params": {}} for n in range(2)])
    await aged(worker, 3_600)
    await another.look()
    await another.look()
    await another.look()
    assert another.remembered == lives_in(1, 2)
    assert len(server.batches.made) == 2
    assert server.seen == []


async def dies_once_it_was_taken(worker: Worker) -> None:
    async def submitted(*_: Any) -> None:
        raise asyncio.CancelledError

    worker.batches.submitted = submitted  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await worker.agent.tick()


async def aged(worker: Worker, seconds: float) -> None:
    await worker.pool.execute(
        "UPDATE batches SET lease_until = now(), sent_at = sent_at - $1 * interval '1 second'", seconds
    )


async def test_a_batch_is_waited_for_before_it_is_taken_for_not_taken(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1))
    await dies_once_it_was_taken(worker)
    await worker.pool.execute("UPDATE batches SET lease_until = now()")
    await another.look()
    assert await worker.pool.fetchval("SELECT look_at > now() + interval '5 minutes' FROM batches")
    assert len(server.batches.made) == 1


async def test_a_batch_that_may_have_been_taken_and_was_not_is_sent_again(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.faults.append("server_error")
    await worker.park(asked(1))
    await worker.agent.tick()
    assert await worker.pool.fetchval("SELECT state FROM batches") == "submitting"
    await aged(worker, 3_600)
    await worker.look()
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)
    assert len(server.batches.made) == 1


async def test_a_batch_that_nobody_sent_is_sent_by_whoever_comes_next(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1))
    worker.related.failures.append(Retryable("qdrant away"))
    await worker.agent.tick()
    assert await worker.pool.fetchval("SELECT state FROM batches") == "forming"
    await another.look()
    await another.look()
    assert another.remembered == lives_in(1)


async def test_a_batch_whose_results_are_gone_is_asked_one_by_one(worker: Worker, server: MessagesServer) -> None:
    await worker.park(asked(1))
    await worker.agent.tick()
    server.batches.made.clear()
    await worker.look()
    await worker.resume()
    assert worker.remembered == lives_in(1)


async def test_what_was_answered_meanwhile_is_published_without_a_question(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1), deadline_s=0.0)
    await worker.resume()
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    (batch,) = server.batches.made.values()
    assert set(batch.requests) == {asked(2).request_id}
    assert worker.remembered == lives_in(1, 1)
    assert await worker.count("parked") == 1


async def test_a_slice_that_was_erased_while_its_batch_was_under_way_is_passed_over(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    for table in ("parked", "extractions"):
        await worker.pool.execute(f"DELETE FROM {table} WHERE conversation_id = 'c1'")
    await worker.look()
    assert worker.remembered == lives_in(2)
    assert worker.publisher.on(topics.DEAD_LETTERS) == []


async def test_what_lies_in_a_batch_is_not_asked_alone_at_its_deadline_but_long_after(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1))
    await worker.agent.tick()
    for days, answered in ((1, []), (3, lives_in(1))):
        await worker.pool.execute("UPDATE parked SET deadline = now() - $1 * interval '1 day'", days)
        await worker.resume()
        assert worker.remembered == answered


async def test_of_two_workers_one_forms_the_batch(worker: Worker, another: Worker, server: MessagesServer) -> None:
    await worker.park(*(asked(number) for number in range(1, 21)))
    await asyncio.gather(worker.agent.tick(), another.agent.tick())
    assert [len(batch.requests) for batch in server.batches.made.values()] == [20]


async def test_batches_that_ended_long_ago_are_forgotten(worker: Worker, server: MessagesServer) -> None:
    for number in (1, 2):
        await worker.park(asked(number))
        await worker.agent.tick()
        await worker.look()
        await worker.pool.execute("UPDATE batches SET ended_at = now() - $1 * interval '1 day'", 31)
    assert await worker.count("batches") == 1


async def test_what_a_batch_may_cost_is_reserved_until_its_replies_are_booked_at_half_the_price(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(asked(1), asked(2))
    await worker.agent.tick()
    assert (await worker.reserved()).tokens > 0
    assert await worker.booked() == []
    await worker.look()
    assert await worker.reserved() == Amount()
    for record_ in await worker.booked():
        assert (record_["batched"], record_["calls"], record_["lane"]) == (True, 1, "background")
        usage = Usage(**{name: record_[name] for name in Usage.__struct_fields__ if name != "batched"})
        assert record_["cost_micros"] == ceil(PRICE.of(usage) / 2)
    assert {record_["request_id"] for record_ in await worker.booked()} == {asked(n).request_id for n in (1, 2)}


async def test_a_reply_that_is_read_twice_is_booked_once(worker: Worker, another: Worker) -> None:
    await worker.park(asked(1))
    await worker.agent.tick()
    worker.publisher.failures.append(Retryable("broker away"))
    await worker.look()
    await another.look()
    assert another.remembered == lives_in(1)
    assert len(await worker.booked()) == 1


async def test_a_mended_reply_is_booked_in_two_parts_each_at_its_price(worker: Worker, server: MessagesServer) -> None:
    server.batches.script("text:no")
    await worker.park(asked(1))
    await worker.agent.tick()
    await worker.look()
    assert sorted(record_["batched"] for record_ in await worker.booked()) == [False, True]


async def test_a_refusal_is_booked_too(worker: Worker, server: MessagesServer) -> None:
    server.batches.script("refusal")
    await worker.park(asked(1))
    await worker.agent.tick()
    await worker.look()
    assert [record_["outcome"] for record_ in await worker.booked()] == ["failed"]
    assert await worker.reserved() == Amount()


@pytest.mark.parametrize("way", ["expired", "gone", "refused"])
async def test_what_was_reserved_for_a_request_without_a_reply_is_given_back(
    worker: Worker, server: MessagesServer, way: str
) -> None:
    if way == "expired":
        server.batches.script("expired")
    if way == "refused":
        server.batches.faults.append("bad_request")
    await worker.park(asked(1))
    await worker.agent.tick()
    if way == "gone":
        server.batches.made.clear()
    await worker.look()
    assert await worker.reserved() == Amount()
    assert await worker.count("parked", "NOT batched AND reservation IS NULL") == 1


async def test_a_request_beyond_the_budget_waits_for_another_batch(pool: Pool, server: MessagesServer) -> None:
    poor = Worker(pool, server, policy=replace(POLICY, budget=Budget(tokens_per_day=0)))
    await poor.park(asked(1))
    await poor.agent.tick()
    assert server.batches.made == {}
    (row,) = await pool.fetch("SELECT * FROM parked")
    assert (row["reason"], row["batched"], row["batch_key"]) == ("budget", True, None)
    assert row["not_before"] > now()
    await poor.client.close()


async def test_a_request_of_a_batch_that_was_not_taken_keeps_what_is_reserved_for_it(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.faults.append("rate_limited")
    await worker.park(asked(1))
    await worker.agent.tick()
    kept = await worker.reserved()
    assert kept.tokens > 0
    await worker.pool.execute("UPDATE parked SET not_before = now()")
    await worker.agent.tick()
    assert await worker.reserved() == kept
    await worker.look()
    assert await worker.reserved() == Amount()


@pytest.mark.parametrize("way", ["erased", "fails"])
async def test_what_was_reserved_for_a_question_that_is_not_stored_is_given_back(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    async def ask(*_: object) -> bool:
        if way == "fails":
            raise Retryable("PostgreSQL is away")
        return False

    monkeypatch.setattr(worker.batches, "ask", ask)
    await worker.park(asked(1))
    await worker.agent.tick()
    assert await worker.reserved() == Amount()


async def test_what_was_reserved_for_a_batch_is_given_back_when_its_time_is_over_before_it_is_formed_anew(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.faults.append("rate_limited")
    await worker.park(asked(1))
    await worker.agent.tick()
    assert (await worker.reserved()).tokens > 0
    await worker.pool.execute("UPDATE parked SET deadline = now()")
    await worker.resume()
    assert worker.remembered == lives_in(1)
    assert await worker.reserved() == Amount()
