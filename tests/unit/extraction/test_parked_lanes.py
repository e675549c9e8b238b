"""Parked requests of both lanes, and requests that wait for a batch."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from schemas.extraction.requests import ExtractionRequest
from tests.fakes.clock import settled
from tests.unit.extraction.extraction_stage import NIGHTLY, POLICY, Worker, numbered_request
from tests.unit.extraction.parking_stage import deferred, in_background, parked, ticked


@pytest.fixture
async def worker() -> Worker:
    return Worker()


def at_night(**changed: Any) -> ExtractionRequest:
    """Returns a background request under the nightly policy, as batches contain it."""
    return structs.replace(in_background(), **({"policy": NIGHTLY.name} | changed))


async def test_background_requests_are_parked_if_all_slots_are_taken_and_live_requests_proceed():
    worker = Worker(background_concurrency=1)
    worker.provider.takes_s = 100.0
    batches = [await worker.take(in_background(number)) for number in range(1, 8)]
    await settled()
    assert [batch.acked for batch in batches] == [False] + 6 * [True]
    worker.provider.takes_s = 1.0
    live = await worker.take(numbered_request(9))
    await asyncio.sleep(1.5)
    assert live.acked
    await ticked(worker, 300)
    assert worker.parking.rows == {}
    assert all(calls == 1 for calls in worker.provider.call_counts.values())
    assert len(worker.provider.call_counts) == 8


async def test_background_requests_take_no_slots_of_live_parked_requests(worker):
    worker.provider.takes_s = 1.0
    await parked(worker, *(in_background(number) for number in range(1, 5)), after_s=0)
    await parked_live(worker, numbered_request(9))
    worker.provider.takes_s = 1_000.0
    worker.provider.slow[numbered_request(9).request_id] = 1.0
    await ticked(worker, 3)
    assert {part.request_id for part in worker.candidates} == {numbered_request(9).request_id}
    await worker.resuming.close()


async def parked_live(worker: Worker, request: ExtractionRequest) -> None:
    worker.provider.failures.append(deferred(0))
    await worker.take(request)
    await asyncio.sleep(2)


async def test_a_background_request_past_its_deadline_is_processed_in_the_live_lane(worker):
    await parked(worker, in_background(), after_s=10 * POLICY.background_deadline_s)
    await asyncio.sleep(POLICY.background_deadline_s)
    await ticked(worker, 2)
    assert len(worker.candidates) == 2
    assert worker.parking.rows == {}


@pytest.fixture
async def batching() -> Worker:
    """A worker whose provider has batches; they take no request that is called `misfit`."""
    return Worker(batches=SimpleNamespace(fits=lambda request: request.request_id != "misfit"))


async def test_a_background_request_under_a_batching_policy_is_parked_for_a_batch_and_acked(batching):
    batch = await batching.take(at_night())
    await asyncio.sleep(1)
    assert batch.acked
    (row,) = batching.parking.rows.values()
    assert (row.batched, row.parked.reason) == (True, "batch")
    await ticked(batching, 10)
    assert batching.provider.call_counts == {}


@pytest.mark.parametrize(
    "changed", [{"lane": "live"}, {"policy": POLICY.name}, {"request_id": "misfit"}], ids=lambda changed: str(changed)
)
async def test_a_request_that_is_live_or_not_batchable_is_sent_to_the_model_at_once(batching, changed):
    batch = await batching.take(at_night(**changed))
    await asyncio.sleep(2)
    assert batch.acked
    assert len(batching.candidates) == 2
    assert batching.parking.rows == {}


async def test_no_request_waits_for_a_batch_if_the_provider_has_no_batches(worker):
    await worker.take(at_night())
    await asyncio.sleep(2)
    assert len(worker.candidates) == 2


async def test_a_request_that_waits_for_a_batch_past_its_deadline_is_processed_in_the_live_lane(batching):
    await batching.take(at_night())
    await asyncio.sleep(NIGHTLY.background_deadline_s + 1)
    await ticked(batching, 2)
    assert len(batching.candidates) == 2
    assert batching.parking.rows == {}
