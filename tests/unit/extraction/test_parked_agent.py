"""Requests are parked, acked and resumed with the same results, lane by lane."""

import asyncio
from collections import deque
from datetime import timedelta

import pytest
from msgspec import structs

from agents.dead_letters.writer import dead_letter_headers
from agents.extraction.extractor import LEASE_S
from schemas import codec
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from sinks.extraction.parked import SHORTEST_PAUSE_S
from tests.fakes.clock import utc
from tests.unit.extraction.extraction_stage import POLICY, Worker, left, numbered_request
from tests.unit.extraction.parking_stage import HOUR_S, deferred, parked, ticked


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_a_deferred_request_is_parked_completely_and_acked(worker):
    await parked(worker, numbered_request())
    row = worker.parking.rows[numbered_request().request_id]
    assert codec.decode(row.parked.value, ExtractionRequest) == numbered_request()
    assert row.parked.reason == "budget"
    assert row.not_before == utc() + timedelta(seconds=HOUR_S - 2)
    assert row.deadline == utc() + timedelta(seconds=POLICY.background_deadline_s - 1)
    assert worker.publisher.records == []
    assert worker.extractions.rows[numbered_request().request_id].owner is None


async def test_nothing_is_parked_once_the_partition_is_lost(worker):
    worker.provider.failures.append(deferred())
    batch = await worker.take(numbered_request())
    worker.app.fence.shut()
    await asyncio.sleep(2)
    assert worker.parking.rows == {}
    assert not batch.acked


async def test_a_failed_parking_attempt_is_retried(worker):
    worker.provider.failures.append(deferred())
    worker.parking.failures["park"] = deque([Retryable("postgres away")])
    batch = await worker.take(numbered_request())
    await asyncio.sleep(60)
    assert batch.acked


async def test_a_request_that_cannot_be_parked_is_dead_lettered(worker):
    worker.provider.failures.append(deferred())
    worker.parking.failures["park"] = deque([Rejected("unstorable", "no column takes it")])
    batch = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert batch.acked
    assert [dead_letter_headers(letter.headers)["reason"] for letter in worker.publisher.on(topics.DEAD_LETTERS)] == [
        "unstorable"
    ]


@pytest.mark.parametrize(("make", "records"), [(numbered_request, 2), (left, 1)])
async def test_a_parked_request_is_answered_when_due_and_removed_from_parking(worker, make, records):
    await parked(worker, make())
    await ticked(worker)
    assert worker.provider.call_counts == {}
    await asyncio.sleep(HOUR_S)
    await ticked(worker, 2)
    assert worker.provider.call_counts == {make().request_id: 1}
    assert len(worker.publisher.records) == records
    assert worker.parking.rows == {}


async def test_a_repeated_request_that_is_already_parked_is_acked_without_a_model_call(worker):
    await parked(worker, numbered_request())
    batch = await worker.take(structs.replace(numbered_request(), attempt=2))
    await asyncio.sleep(2)
    assert batch.acked
    assert worker.provider.call_counts == {}
    assert len(worker.parking.rows) == 1


async def test_a_request_deferred_again_is_parked_again(worker):
    await parked(worker, numbered_request(), after_s=0)
    worker.provider.failures.append(deferred())
    await ticked(worker, 10)
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    await asyncio.sleep(HOUR_S)
    await ticked(worker, 2)
    assert worker.provider.call_counts == {numbered_request().request_id: 2}
    assert worker.parking.rows == {}


async def test_a_request_deferred_to_the_present_is_retried_only_after_a_minimum_pause(worker):
    await parked(worker, numbered_request(), after_s=0)
    worker.provider.failures += [deferred(0)] * 100
    await ticked(worker, 60)
    assert worker.provider.call_counts[numbered_request().request_id] <= 60 / SHORTEST_PAUSE_S + 1


async def test_an_outage_delays_a_parked_request_with_growing_intervals(worker):
    await parked(worker, numbered_request(), after_s=0)
    worker.provider.failures += [Retryable("overloaded")] * 1_000
    await ticked(worker, 120)
    assert 4 <= worker.provider.call_counts[numbered_request().request_id] <= 7
    worker.provider.failures.clear()
    await ticked(worker, 310)
    assert len(worker.candidates) == 2
    assert worker.parking.rows == {}


@pytest.mark.parametrize("error", [Rejected("refused", "no"), ValueError("a bug")])
async def test_a_rejected_parked_request_is_dead_lettered_unchanged_and_its_window_is_notified(worker, error):
    await parked(worker, numbered_request(), after_s=0)
    worker.provider.failures.append(error)
    await ticked(worker, 3)
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert codec.decode(letter.value, ExtractionRequest) == numbered_request()
    assert (dead_letter_headers(letter.headers)["topic"], dead_letter_headers(letter.headers)["offset"]) == (
        topics.REQUESTS,
        "0",
    )
    assert [(control.kind, control.request_id) for control in worker.controls] == [
        ("extraction_failed", numbered_request().request_id)
    ]
    assert worker.extractions.rows[numbered_request().request_id].failed
    assert worker.parking.rows == {}


async def test_a_parked_request_that_cannot_be_decoded_is_dead_lettered(worker):
    await parked(worker, numbered_request(), after_s=0)
    row = worker.parking.rows[numbered_request().request_id]
    row.parked = structs.replace(
        row.parked, value=b"{}", headers=(("request-id", numbered_request().request_id.encode()),)
    )
    await ticked(worker, 2)
    assert [dead_letter_headers(letter.headers)["reason"] for letter in worker.publisher.on(topics.DEAD_LETTERS)] == [
        "invalid"
    ]
    assert worker.parking.rows == {}


async def test_a_configuration_error_ends_the_agent_and_releases_the_parked_request(worker):
    await parked(worker, numbered_request(), after_s=0)
    worker.provider.failures.append(Misconfigured("no such model"))
    await ticked(worker, 2)
    with pytest.raises(Misconfigured):
        await worker.resuming.tick()
    assert worker.parking.rows[numbered_request().request_id].owner is None


async def test_a_failed_publication_is_retried_without_another_model_call(worker):
    await parked(worker, numbered_request(), after_s=0)
    worker.publisher.failures.append(Retryable("broker away"))
    await ticked(worker, 10)
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    assert len(worker.candidates) == 2
    assert worker.parking.rows == {}


async def test_a_parked_request_claimed_by_a_dead_worker_is_resumed_after_its_lease_expires():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, numbered_request(), after_s=0)
    await one.parking.claim("live", 1, "a dead worker", LEASE_S)
    await ticked(two, int(LEASE_S) - 1)
    assert two.provider.call_counts == {}
    await ticked(two, 3)
    assert len(two.candidates) == 2
    assert one.parking.rows == {}


async def test_a_long_model_call_keeps_the_lease_on_its_parked_request():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, numbered_request(), after_s=0)
    one.provider.takes_s = 10 * LEASE_S
    await ticked(one)
    await ticked(two, int(11 * LEASE_S))
    assert one.provider.call_counts + two.provider.call_counts == {numbered_request().request_id: 1}
    assert (len(one.candidates), len(two.candidates)) == (2, 0)


async def test_a_worker_that_lost_its_lease_publishes_nothing_and_the_next_one_makes_no_second_call():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, numbered_request(), after_s=0)
    one.provider.takes_s = 3 * LEASE_S
    one.parking.failures["renew"] = deque([Retryable("postgres away")] * 100)
    await ticked(one)
    await ticked(two, int(5 * LEASE_S))
    assert one.provider.call_counts + two.provider.call_counts == {numbered_request().request_id: 1}
    assert (len(one.candidates), len(two.candidates)) == (0, 2)
    assert one.parking.rows == {}


async def test_a_worker_that_stops_releases_its_parked_requests_at_once():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, numbered_request(), after_s=0)
    one.provider.takes_s = 1_000.0
    await ticked(one)
    await one.resuming.close()
    await ticked(two, 2)
    assert len(two.candidates) == 2
