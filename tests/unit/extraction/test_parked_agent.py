"""Requests that are put off: parked, acked, and resumed to the same outcomes, lane by lane."""

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
from tests.unit.extraction.extraction_stage import POLICY, Worker, asked, left
from tests.unit.extraction.parking_stage import HOUR_S, deferred, parked, ticked


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_a_request_that_must_wait_is_parked_whole_and_acked(worker):
    await parked(worker, asked())
    row = worker.parking.rows[asked().request_id]
    assert codec.decode(row.parked.value, ExtractionRequest) == asked()
    assert row.parked.reason == "budget"
    assert row.not_before == utc() + timedelta(seconds=HOUR_S - 2)
    assert row.deadline == utc() + timedelta(seconds=POLICY.background_deadline_s - 1)
    assert worker.publisher.records == []
    assert worker.extractions.rows[asked().request_id].owner is None


async def test_nothing_is_parked_once_the_partition_is_lost(worker):
    worker.provider.failures.append(deferred())
    batch = await worker.take(asked())
    worker.app.fence.shut()
    await asyncio.sleep(2)
    assert worker.parking.rows == {}
    assert not batch.acked


async def test_a_parking_place_that_cannot_be_reached_is_tried_again(worker):
    worker.provider.failures.append(deferred())
    worker.parking.failures["park"] = deque([Retryable("postgres away")])
    batch = await worker.take(asked())
    await asyncio.sleep(60)
    assert batch.acked


async def test_what_cannot_be_parked_is_given_up(worker):
    worker.provider.failures.append(deferred())
    worker.parking.failures["park"] = deque([Rejected("unstorable", "no column takes it")])
    batch = await worker.take(asked())
    await asyncio.sleep(2)
    assert batch.acked
    assert [dead_letter_headers(letter.headers)["reason"] for letter in worker.publisher.on(topics.DEAD_LETTERS)] == [
        "unstorable"
    ]


@pytest.mark.parametrize(("make", "records"), [(asked, 2), (left, 1)])
async def test_a_parked_request_is_answered_when_its_time_has_come_and_leaves(worker, make, records):
    await parked(worker, make())
    await ticked(worker)
    assert worker.provider.asked == {}
    await asyncio.sleep(HOUR_S)
    await ticked(worker, 2)
    assert worker.provider.asked == {make().request_id: 1}
    assert len(worker.publisher.records) == records
    assert worker.parking.rows == {}


async def test_a_request_asked_for_again_while_it_is_parked_is_acked_without_a_call(worker):
    await parked(worker, asked())
    batch = await worker.take(structs.replace(asked(), attempt=2))
    await asyncio.sleep(2)
    assert batch.acked
    assert worker.provider.asked == {}
    assert len(worker.parking.rows) == 1


async def test_a_request_put_off_once_more_waits_once_more(worker):
    await parked(worker, asked(), after_s=0)
    worker.provider.failures.append(deferred())
    await ticked(worker, 10)
    assert worker.provider.asked == {asked().request_id: 1}
    await asyncio.sleep(HOUR_S)
    await ticked(worker, 2)
    assert worker.provider.asked == {asked().request_id: 2}
    assert worker.parking.rows == {}


async def test_a_request_put_off_to_no_later_moment_is_not_looked_at_all_the_time(worker):
    await parked(worker, asked(), after_s=0)
    worker.provider.failures += [deferred(0)] * 100
    await ticked(worker, 60)
    assert worker.provider.asked[asked().request_id] <= 60 / SHORTEST_PAUSE_S + 1


async def test_an_outage_delays_a_parked_request_longer_and_longer(worker):
    await parked(worker, asked(), after_s=0)
    worker.provider.failures += [Retryable("overloaded")] * 1_000
    await ticked(worker, 120)
    assert 4 <= worker.provider.asked[asked().request_id] <= 7
    worker.provider.failures.clear()
    await ticked(worker, 310)
    assert len(worker.candidates) == 2
    assert worker.parking.rows == {}


@pytest.mark.parametrize("error", [Rejected("refused", "no"), ValueError("a bug")])
async def test_what_can_never_be_answered_is_dead_lettered_as_it_came_and_its_window_told(worker, error):
    await parked(worker, asked(), after_s=0)
    worker.provider.failures.append(error)
    await ticked(worker, 3)
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert codec.decode(letter.value, ExtractionRequest) == asked()
    assert (dead_letter_headers(letter.headers)["topic"], dead_letter_headers(letter.headers)["offset"]) == (
        topics.REQUESTS,
        "0",
    )
    assert [(control.kind, control.request_id) for control in worker.controls] == [
        ("extraction_failed", asked().request_id)
    ]
    assert worker.extractions.rows[asked().request_id].failed
    assert worker.parking.rows == {}


async def test_a_parked_request_that_no_longer_decodes_is_a_dead_letter(worker):
    await parked(worker, asked(), after_s=0)
    row = worker.parking.rows[asked().request_id]
    row.parked = structs.replace(row.parked, value=b"{}", headers=(("request-id", asked().request_id.encode()),))
    await ticked(worker, 2)
    assert [dead_letter_headers(letter.headers)["reason"] for letter in worker.publisher.on(topics.DEAD_LETTERS)] == [
        "invalid"
    ]
    assert worker.parking.rows == {}


async def test_a_wrong_set_up_ends_the_agent_and_gives_the_request_back(worker):
    await parked(worker, asked(), after_s=0)
    worker.provider.failures.append(Misconfigured("no such model"))
    await ticked(worker, 2)
    with pytest.raises(Misconfigured):
        await worker.resuming.tick()
    assert worker.parking.rows[asked().request_id].owner is None


async def test_a_publisher_that_is_down_is_tried_again_without_another_call(worker):
    await parked(worker, asked(), after_s=0)
    worker.publisher.failures.append(Retryable("broker away"))
    await ticked(worker, 10)
    assert worker.provider.asked == {asked().request_id: 1}
    assert len(worker.candidates) == 2
    assert worker.parking.rows == {}


async def test_a_parked_request_of_a_worker_that_died_is_resumed_by_another_once_its_lease_is_over():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, asked(), after_s=0)
    await one.parking.claim("live", 1, "a dead worker", LEASE_S)
    await ticked(two, int(LEASE_S) - 1)
    assert two.provider.asked == {}
    await ticked(two, 3)
    assert len(two.candidates) == 2
    assert one.parking.rows == {}


async def test_a_long_call_keeps_its_request():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, asked(), after_s=0)
    one.provider.takes_s = 10 * LEASE_S
    await ticked(one)
    await ticked(two, int(11 * LEASE_S))
    assert one.provider.asked + two.provider.asked == {asked().request_id: 1}
    assert (len(one.candidates), len(two.candidates)) == (2, 0)


async def test_who_could_not_renew_in_time_publishes_nothing_and_the_next_one_asks_no_second_time():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, asked(), after_s=0)
    one.provider.takes_s = 3 * LEASE_S
    one.parking.failures["renew"] = deque([Retryable("postgres away")] * 100)
    await ticked(one)
    await ticked(two, int(5 * LEASE_S))
    assert one.provider.asked + two.provider.asked == {asked().request_id: 1}
    assert (len(one.candidates), len(two.candidates)) == (0, 2)
    assert one.parking.rows == {}


async def test_a_worker_that_stops_gives_its_requests_to_others_at_once():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await parked(one, asked(), after_s=0)
    one.provider.takes_s = 1_000.0
    await ticked(one)
    await one.resuming.close()
    await ticked(two, 2)
    assert len(two.candidates) == 2
