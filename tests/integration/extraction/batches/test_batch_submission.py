"""A batch is submitted once despite failed calls and workers; rejected requests are sent individually."""

import asyncio

import pytest
from msgspec.structs import replace

from agents.dead_letters.writer import dead_letter_headers
from schemas.errors import Misconfigured, Retryable
from schemas.kafka import topics
from tests.integration.extraction.batches.batch_stage import (
    POLICY,
    Worker,
    aged,
    dies_once_it_was_taken,
    lives_in,
    numbered_request,
)
from tests.servers.messages import MessagesServer


async def test_a_corrupt_parked_request_does_not_block_the_other_batch_members(worker: Worker) -> None:
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    await worker.pool.execute(
        "UPDATE parked SET headers = '{}'::jsonb WHERE request_id = $1", numbered_request(1).request_id
    )
    await worker.look()
    assert worker.remembered == lives_in(2)
    assert await worker.count("parked", "not_before = 'infinity'") == 1


async def test_a_temporarily_rejected_batch_is_created_again(worker: Worker, server: MessagesServer) -> None:
    server.batches.faults.append("rate_limited")
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    assert await worker.count("batches") == 0
    await worker.pool.execute("UPDATE parked SET not_before = now()")
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)


async def test_requests_of_a_permanently_rejected_batch_are_sent_individually(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.faults.append("bad_request")
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    await worker.resume()
    assert worker.remembered == lives_in(1, 2)
    assert len(server.seen) == 2


async def test_a_wrong_key_stops_the_agent_and_loses_nothing(worker: Worker, server: MessagesServer) -> None:
    server.batches.faults.append("unauthorized")
    await worker.park(numbered_request(1))
    with pytest.raises(Misconfigured):
        await worker.agent.tick()
    assert await worker.count("parked", "batched AND batch_key IS NULL") == 1


async def test_a_local_only_conversation_is_not_sent_in_a_batch(worker: Worker, server: MessagesServer) -> None:
    worker.client.base_url = "http://elsewhere.example"  # type: ignore[assignment]
    elsewhere = Worker(worker.pool, server, policy=replace(POLICY, local_only=True), client=worker.client)
    await elsewhere.park(numbered_request(1))
    await elsewhere.agent.tick()
    (letter,) = elsewhere.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == "must_stay"
    assert server.batches.made == {}


async def test_a_batch_accepted_without_a_recorded_id_is_found_and_not_sent_again(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    """The worker dies between the provider's answer and storing its id; somebody else's batch of the same size is there."""
    await worker.park(numbered_request(1), numbered_request(2))
    await dies_once_it_was_taken(worker)
    server.batches.submitted([{"custom_id": f"theirs-{n}", "params": {}} for n in range(2)])
    await aged(worker, 3_600)
    await another.look()
    await another.look()
    await another.look()
    assert another.remembered == lives_in(1, 2)
    assert len(server.batches.made) == 2
    assert server.seen == []


async def test_a_batch_with_unknown_acceptance_is_not_sent_again_immediately(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1))
    await dies_once_it_was_taken(worker)
    await worker.pool.execute("UPDATE batches SET lease_until = now()")
    await another.look()
    assert await worker.pool.fetchval("SELECT look_at > now() + interval '5 minutes' FROM batches")
    assert len(server.batches.made) == 1


async def test_a_batch_with_unknown_acceptance_that_was_not_accepted_is_sent_again(
    worker: Worker, server: MessagesServer
) -> None:
    server.batches.faults.append("server_error")
    await worker.park(numbered_request(1))
    await worker.agent.tick()
    assert await worker.pool.fetchval("SELECT state FROM batches") == "submitting"
    await aged(worker, 3_600)
    await worker.look()
    await worker.agent.tick()
    await worker.look()
    assert worker.remembered == lives_in(1)
    assert len(server.batches.made) == 1


async def test_a_formed_but_unsent_batch_is_sent_by_the_next_worker(
    worker: Worker, another: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1))
    worker.related.failures.append(Retryable("qdrant away"))
    await worker.agent.tick()
    assert await worker.pool.fetchval("SELECT state FROM batches") == "forming"
    await another.look()
    await another.look()
    assert another.remembered == lives_in(1)


async def test_a_request_answered_meanwhile_is_published_without_a_model_request(
    worker: Worker, server: MessagesServer
) -> None:
    await worker.park(numbered_request(1), deadline_s=0.0)
    await worker.resume()
    await worker.park(numbered_request(1), numbered_request(2))
    await worker.agent.tick()
    (batch,) = server.batches.made.values()
    assert set(batch.requests) == {numbered_request(2).request_id}
    assert worker.remembered == lives_in(1, 1)
    assert await worker.count("parked") == 1


async def test_only_one_of_two_workers_forms_the_batch(worker: Worker, another: Worker, server: MessagesServer) -> None:
    await worker.park(*(numbered_request(number) for number in range(1, 21)))
    await asyncio.gather(worker.agent.tick(), another.agent.tick())
    assert [len(batch.requests) for batch in server.batches.made.values()] == [20]
