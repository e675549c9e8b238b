"""The cost of a batch stays reserved in its budgets until it is booked once or released."""

from math import ceil

import pytest
from msgspec.structs import replace

from agents.models.port import Usage
from schemas.budgets.budgets import Amount, Budget
from schemas.errors import Retryable
from schemas.memories.commands import Command
from sinks.postgres.connection import Pool
from tests.integration.curation_bench import Bench
from tests.integration.extraction.batches.batch_stage import POLICY, PRICE, Worker, lives_in, now, numbered_request
from tests.servers.messages import MessagesServer


async def test_erasing_a_namespace_releases_the_reservations_of_its_batch_requests(
    worker: Worker, bench: Bench
) -> None:
    request = replace(numbered_request(1), namespaces=("n",))
    await worker.park(request)
    await worker.agent.tick()
    assert (await worker.reserved()).tokens > 0
    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace="n", at=now()))
    assert await worker.count("parked") == 0
    assert await worker.reserved() == Amount()


async def test_batch_cost_is_reserved_until_replies_are_booked_at_half_price(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    assert (await worker.reserved()).tokens > 0
    assert await worker.booked() == []
    await worker.look()
    assert await worker.reserved() == Amount()
    for record_ in await worker.booked():
        assert (record_["batched"], record_["calls"], record_["lane"]) == (True, 1, "background")
        usage = Usage(**{name: record_[name] for name in Usage.__struct_fields__ if name != "batched"})
        assert record_["cost_micros"] == ceil(PRICE.of(usage) / 2)
    assert {record_["request_id"] for record_ in await worker.booked()} == {
        numbered_request(n).request_id for n in (1, 2)
    }


async def test_a_reply_collected_twice_is_booked_once(worker: Worker, another: Worker) -> None:
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    worker.publisher.failures.append(Retryable("broker away"))
    await worker.look()
    await another.look()
    assert another.remembered == lives_in(1)
    assert len(await worker.booked()) == 1


async def test_a_repaired_reply_is_booked_as_one_batched_and_one_regular_call(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.script("text:no")
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    await worker.look()
    assert sorted(record_["batched"] for record_ in await worker.booked()) == [False, True]


async def test_a_refusal_is_booked_as_failed_usage(worker: Worker, server: MessagesServer) -> None:
    server.batches.script("refusal")
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    await worker.look()
    assert [record_["outcome"] for record_ in await worker.booked()] == ["failed"]
    assert await worker.reserved() == Amount()


@pytest.mark.parametrize("way", ["expired", "gone", "refused"])
async def test_the_reservation_of_a_request_without_a_reply_is_released(
    worker: Worker, server: MessagesServer, way: str
) -> None:
    if way == "expired":
        server.batches.script("expired")
    if way == "refused":
        server.batches.faults.append("bad_request")
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    if way == "gone":
        server.batches.made.clear()
    await worker.look()
    assert await worker.reserved() == Amount()
    assert await worker.count("parked", "NOT batched AND reservation IS NULL") == 1


async def test_a_request_beyond_the_budget_waits_for_another_batch(pool: Pool, server: MessagesServer) -> None:
    poor = Worker(pool, server, policy=replace(POLICY, budget=Budget(tokens_per_day=0)))
    await poor.park(numbered_request(1))
    await poor.agent.tick()
    assert server.batches.made == {}
    (row,) = await pool.fetch("SELECT * FROM parked")
    assert (row["reason"], row["batched"], row["batch_key"]) == ("budget", True, None)
    assert row["not_before"] > now()
    await poor.client.close()


async def test_requests_of_a_rate_limited_batch_keep_their_reservation(worker: Worker, server: MessagesServer) -> None:
    server.batches.faults.append("rate_limited")
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    kept = await worker.reserved()
    assert kept.tokens > 0
    await worker.pool.execute("UPDATE parked SET not_before = now()")
    await worker.agent.tick()
    assert await worker.reserved() == kept
    await worker.look()
    assert await worker.reserved() == Amount()


@pytest.mark.parametrize("way", ["erased", "fails"])
async def test_the_reservation_of_a_request_that_cannot_be_stored_is_released(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    async def ask(*_: object) -> bool:
        if way == "fails":
            raise Retryable("PostgreSQL is away")
        return False

    monkeypatch.setattr(worker.batches, "ask", ask)
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    assert await worker.reserved() == Amount()


async def test_the_reservation_is_released_when_the_deadline_passes_before_the_batch_is_formed_again(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.faults.append("rate_limited")
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    assert (await worker.reserved()).tokens > 0
    await worker.pool.execute("UPDATE parked SET deadline = now()")
    await worker.resume()
    assert worker.remembered == lives_in(1)
    assert await worker.reserved() == Amount()


async def test_a_request_beyond_the_budget_is_sent_individually_where_the_policy_falls_back_to_a_local_model(
    pool: Pool, server: MessagesServer
) -> None:
    policy = replace(POLICY, budget=Budget(tokens_per_day=0), on_spent_budget="stay_local")
    poor = Worker(pool, server, policy=policy)
    await poor.park(numbered_request(1))
    await poor.agent.tick()
    (row,) = await pool.fetch("SELECT reason, batched, batch_key, not_before <= now() AS due FROM parked")
    assert (row["reason"], row["batched"], row["batch_key"], row["due"]) == ("budget", False, None, True)
