"""The extraction stage with a fake store, provider and publisher, in virtual time."""

import asyncio
from collections import deque

import pytest
from msgspec import structs

from agents.models.port import Answer
from schemas import codec, ids
from schemas.conversations.windows import Calibration
from schemas.errors import Retryable
from tests.fakes.clock import settled
from tests.unit.extraction.extraction_stage import CALL, PARTITION, POLICY, Worker, left, numbered_request


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_a_request_publishes_one_candidate_batch_per_namespace_and_is_then_acked(worker):
    batch = await worker.take(numbered_request())
    assert not batch.acked
    await asyncio.sleep(2)
    assert batch.acked
    first, second = worker.candidates
    assert [(part.namespace, part.part, part.parts) for part in (first, second)] == [("app", 1, 2), ("app/user", 2, 2)]
    assert [record.key for record in worker.publisher.records] == [b"app", b"app/user"]
    assert first.partition == PARTITION
    (candidate,) = second.candidates
    assert candidate.candidate_id == ids.candidate_id(numbered_request().request_id, "app/user", 0)
    assert [(s.message_id, s.position, s.user_id) for s in candidate.sources] == [("m10", 10, "user")]
    assert first.candidates[0].candidate_id != candidate.candidate_id


async def test_counts_of_rejected_proposals_are_stored_with_the_answer_and_logged(worker, caplog):
    worker.provider.rejected = {"kind": 2}
    with caplog.at_level("INFO"):
        await worker.take(numbered_request())
        await asyncio.sleep(2)
    stored = worker.extractions.rows[numbered_request().request_id].answer
    assert codec.decode(stored, Answer).rejected == {"kind": 2}
    assert "{'kind': 2}" in caplog.text


async def test_the_provider_receives_the_policy_of_the_request(worker):
    await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert worker.provider.contexts[0].policy == POLICY


async def test_calls_are_bounded_by_the_concurrency():
    worker = Worker(concurrency=2)
    batch = await worker.take(*(numbered_request(number) for number in range(1, 7)))
    await asyncio.sleep(2.5)
    assert not batch.acked
    await asyncio.sleep(2.5)
    assert worker.provider.most == 2
    assert batch.acked


async def test_the_number_of_requests_in_flight_is_bounded():
    worker = Worker(in_flight=2)
    await worker.take(numbered_request(1))
    await worker.take(numbered_request(2))
    third = asyncio.create_task(worker.take(numbered_request(3)))
    await settled()
    assert not third.done()
    await asyncio.sleep(1.5)
    assert third.done()
    await asyncio.sleep(2)


async def test_batches_are_acked_in_the_order_they_end(worker):
    worker.provider.slow[numbered_request(1).request_id] = 50.0
    slow, quick = await worker.take(numbered_request(1)), await worker.take(numbered_request(2))
    await asyncio.sleep(2)
    assert quick.acked
    assert not slow.acked
    await asyncio.sleep(50)
    assert slow.acked


async def test_a_batch_is_acked_when_all_of_its_requests_are_done(worker):
    worker.provider.slow[numbered_request(1).request_id] = 50.0
    batch = await worker.take(numbered_request(1), numbered_request(2))
    await asyncio.sleep(2)
    assert [part.request_id for part in worker.candidates] == [numbered_request(2).request_id] * 2
    assert not batch.acked
    await asyncio.sleep(50)
    assert batch.acked


async def test_a_provider_outage_releases_the_lease_and_the_call_is_retried(worker):
    worker.provider.failures += [Retryable("overloaded"), Retryable("overloaded")]
    batch = await worker.take(numbered_request())
    await asyncio.sleep(1.05)
    assert "release" in worker.extractions.calls
    assert not batch.acked
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.call_counts == {numbered_request().request_id: 3}
    assert len(worker.candidates) == 2


@pytest.mark.parametrize("name", ["lease", "store_answer"])
async def test_a_store_outage_is_retried(worker, name):
    worker.extractions.failures[name] = deque([Retryable("postgres away")])
    batch = await worker.take(numbered_request())
    await asyncio.sleep(60)
    assert batch.acked
    assert len(worker.candidates) == 2


async def test_a_failed_lookup_of_related_memories_is_retried_before_the_model_is_called(worker):
    worker.related.failures.append(Retryable("qdrant away"))
    batch = await worker.take(numbered_request())
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.call_counts == {numbered_request().request_id: 1}


async def test_a_failed_publication_is_retried_without_another_model_call(worker):
    worker.publisher.failures.append(Retryable("broker away"))
    batch = await worker.take(numbered_request())
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    assert len(worker.candidates) == 2


@pytest.mark.parametrize("make", [numbered_request, left])
async def test_a_model_call_updates_the_token_calibration_and_a_stored_answer_does_not(worker, make):
    worker.provider.calls = (CALL,)
    await worker.take(make())
    await asyncio.sleep(2)
    assert worker.calibrations.known == {"fake-1": Calibration(1.2, 1)}
    await worker.take(make())
    await asyncio.sleep(2)
    assert worker.calibrations.lessons == 1


async def test_a_provider_without_token_counts_does_not_update_the_calibration(worker):
    await worker.take(numbered_request(), left())
    await asyncio.sleep(2)
    assert worker.calibrations.lessons == 0


@pytest.mark.parametrize("error", [Retryable("postgres away"), ValueError("a bug")])
async def test_a_failed_calibration_update_does_not_affect_the_extraction(worker, error):
    worker.provider.calls = (CALL,)
    worker.calibrations.failures.append(error)
    batch = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert batch.acked
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    assert len(worker.candidates) == 2


async def test_an_extraction_does_not_wait_for_the_calibration_update(worker):
    worker.provider.calls = (CALL,)
    worker.calibrations.takes_s = 1_000.0
    batch = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert batch.acked
    assert worker.calibrations.lessons == 1
    await worker.agent.close()
    assert worker.calibrations.known == {}


@pytest.mark.parametrize("make", [numbered_request, left])
async def test_a_local_only_request_stays_local_after_its_policy_was_removed(worker, make):
    worker.provider.leaves_machine = True
    await worker.take(structs.replace(make(), policy="gone", local_only=True))
    await asyncio.sleep(2)
    policies = [context.policy for context in worker.provider.contexts]
    policies += [policy for _, policy in worker.provider.summarised]
    assert [(policy.name, policy.local_only) for policy in policies] == [("default", True)]


async def test_a_batch_answer_is_reported_to_the_batch_answer_callback(worker):
    answers: list[Answer] = []
    worker.extractor._on_batch_answer = answers.append
    answer = Answer(provider="claude", model="a-model")
    assert await worker.extractor.enrol_in_batch(numbered_request(), "owner", lambda: True)
    assert await worker.extractor.store_and_publish(numbered_request(), "owner", answer, lambda: True)
    assert answers == [answer]
