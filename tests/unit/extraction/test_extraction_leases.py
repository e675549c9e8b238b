"""One model call a slice under redelivery, concurrent workers and takeover."""

import asyncio
from collections import deque
from datetime import timedelta

import pytest

from agents.dead_letters.writer import dead_letter_headers
from agents.extraction.extractor import LEASE_S
from schemas.errors import Rejected, Retryable
from schemas.kafka import topics
from sinks.extraction.answers import Leased
from tests.fakes.clock import settled, utc
from tests.unit.extraction.extraction_stage import Worker, numbered_request


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_a_redelivered_request_publishes_the_stored_answer_without_a_model_call(worker):
    await worker.take(numbered_request())
    await asyncio.sleep(2)
    first = worker.candidates
    await worker.take(numbered_request())
    await asyncio.sleep(2)
    again = worker.candidates[2:]
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    assert [part.candidates for part in again] == [part.candidates for part in first]


async def test_concurrent_copies_of_a_request_cause_one_model_call(worker):
    batches = [await worker.take(numbered_request(), numbered_request()), await worker.take(numbered_request())]
    await asyncio.sleep(10)
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    assert all(batch.acked for batch in batches)
    assert {part.candidates[0].text for part in worker.candidates} == {"answer 1"}


async def test_two_workers_with_the_same_request_make_one_model_call():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, name="worker-2")
    one.provider.takes_s = two.provider.takes_s = 10 * LEASE_S  # the running call keeps its lease
    batches = [await one.take(numbered_request()), await two.take(numbered_request())]
    await asyncio.sleep(11 * LEASE_S)
    assert one.provider.call_counts + two.provider.call_counts == {numbered_request().request_id: 1}
    assert all(batch.acked for batch in batches)
    assert one.candidates[0].candidates == two.candidates[0].candidates


async def test_a_renewal_that_fails_does_not_end_the_lease_of_a_running_call():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, name="worker-2")
    one.provider.takes_s = 10 * LEASE_S
    one.extractions.failures["renew"] = deque([Retryable("postgres away")])
    await one.take(numbered_request())
    await settled()
    await two.take(numbered_request())
    await asyncio.sleep(11 * LEASE_S)
    assert one.provider.call_counts + two.provider.call_counts == {numbered_request().request_id: 1}


async def test_a_request_whose_lease_was_lost_while_it_waited_for_a_call_slot_makes_no_second_call():
    worker = Worker(concurrency=1)
    worker.provider.takes_s = 4 * LEASE_S
    await worker.take(numbered_request(1))
    await settled()
    batch = await worker.take(numbered_request(2))
    await settled()
    taken = worker.extractions.rows[numbered_request(2).request_id]
    taken.owner, taken.until = "another worker", utc() + timedelta(seconds=6 * LEASE_S)
    await asyncio.sleep(5 * LEASE_S)
    assert worker.provider.call_counts == {numbered_request(1).request_id: 1}
    await asyncio.sleep(10 * LEASE_S)  # the other one died meanwhile
    assert worker.provider.call_counts == {numbered_request(1).request_id: 1, numbered_request(2).request_id: 1}
    assert batch.acked


async def test_the_lease_of_a_dead_worker_is_taken_over_once_it_expires(worker):
    lease = await worker.extractions.lease(numbered_request(), "dead worker", LEASE_S)
    assert isinstance(lease, Leased)
    batch = await worker.take(numbered_request())
    await asyncio.sleep(LEASE_S - 0.1)
    assert worker.provider.call_counts == {}
    assert not batch.acked
    await asyncio.sleep(3)
    assert batch.acked


async def test_a_request_leased_by_another_worker_occupies_no_call_slot():
    worker = Worker(concurrency=1)
    for number in range(2, 6):
        await worker.extractions.lease(numbered_request(number), "somebody else", 1_000)
        await worker.take(numbered_request(number))
    batch = await worker.take(numbered_request(1))
    await asyncio.sleep(2)
    assert batch.acked


@pytest.mark.parametrize("outcome", [None, Rejected("refused", "no"), Retryable("overloaded")])
async def test_nothing_is_published_or_acked_once_the_partition_is_lost(worker, outcome):
    if outcome is not None:
        worker.provider.failures.append(outcome)
    batch = await worker.take(numbered_request())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    worker.app.fence.open()
    await asyncio.sleep(60)
    assert worker.publisher.records == []
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    assert not batch.acked


async def test_a_rejection_during_partition_loss_is_dead_lettered_by_the_next_owner_without_a_call(worker):
    worker.provider.failures.append(Rejected("refused", "the model refused"))
    await worker.take(numbered_request())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    worker.app.fence.open()
    await asyncio.sleep(60)
    next_owner = Worker(worker.extractions, "worker-2")
    given = await next_owner.take(numbered_request())
    await asyncio.sleep(2)
    assert given.acked
    assert not next_owner.provider.call_counts
    (letter,) = next_owner.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == "refused"
    assert dead_letter_headers(letter.headers)["detail"] == "the model refused"
    await next_owner.take(numbered_request())
    await asyncio.sleep(2)
    assert next_owner.provider.call_counts == {numbered_request().request_id: 1}, (
        "a dead letter that was told may be replayed"
    )


async def test_a_dead_letter_that_could_not_be_sent_is_not_sent_after_the_partition_is_lost(worker):
    worker.publisher.failures.append(Retryable("broker away"))
    batch = await worker.take(b"{}")
    await settled()
    worker.app.fence.shut()
    await asyncio.sleep(60)
    assert worker.publisher.records == []
    assert not batch.acked


async def test_an_answer_received_after_partition_loss_is_published_by_the_next_owner(worker):
    await worker.take(numbered_request())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    successor = Worker(worker.extractions, name="worker-2")
    batch = await successor.take(numbered_request())
    await asyncio.sleep(30)
    assert successor.provider.call_counts == {}
    assert len(successor.candidates) == 2
    assert batch.acked


async def test_waiting_for_the_lease_of_another_worker_ends_once_the_partition_is_lost(worker):
    await worker.extractions.lease(numbered_request(), "somebody else", 1_000)
    batch = await worker.take(numbered_request())
    worker.app.fence.shut()
    await asyncio.sleep(2_000)
    assert worker.provider.call_counts == {}
    assert not batch.acked


async def test_a_request_under_way_while_the_epoch_closes_is_still_published_and_acked(worker):
    batch = await worker.take(numbered_request())
    worker.app.fence.close()
    await asyncio.sleep(2)
    assert len(worker.candidates) == 2
    assert batch.acked
