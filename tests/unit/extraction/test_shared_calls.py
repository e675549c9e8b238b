"""Short slices of one user share a model call: parked until there are enough, sent once, answered and settled
individually."""

import asyncio
from collections import deque
from datetime import timedelta

import pytest
from msgspec import structs

from agents.extraction.extractor import LEASE_S
from agents.extraction.parked_requests import MAX_MEMBERS, SHARED_TRIES
from agents.extraction.shared_calls import SHARED
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Misconfigured, Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policies
from tests.builders.slices import MONDAY
from tests.fakes.clock import utc
from tests.unit.extraction.extraction_stage import POLICY, Worker, numbered_request, patient
from tests.unit.extraction.parking_stage import ticked

WAIT_S = POLICY.share_wait_s


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def delivered(worker: Worker, *requests: ExtractionRequest) -> None:
    batch = await worker.take(*requests)
    await asyncio.sleep(1)
    assert batch.acked


async def test_requests_that_may_wait_share_one_model_call_with_separate_answers(worker):
    await delivered(worker, patient(1), patient(2), patient(3))
    assert {row.parked.reason for row in worker.parking.rows.values()} == {SHARED}

    await ticked(worker, int(WAIT_S) + 3)

    assert worker.provider.call_counts == {}
    (together,) = worker.provider.together
    assert sorted(together) == sorted(patient(each).request_id for each in (1, 2, 3))
    candidates = {(batch.conversation_id, each.text) for batch in worker.candidates for each in batch.candidates}
    assert candidates == {(f"conversation-{each}", f"together {patient(each).request_id}") for each in (1, 2, 3)}
    assert len(worker.candidates) == 3 * len(POLICY.namespaces)
    assert worker.parking.rows == {}


async def test_a_request_that_may_not_wait_is_sent_at_once(worker):
    await worker.take(numbered_request(1))
    await asyncio.sleep(2)
    assert worker.provider.call_counts == {numbered_request(1).request_id: 1}
    assert worker.parking.rows == {}


async def test_a_waiting_request_resent_as_urgent_starts_the_shared_call_at_once(worker):
    await delivered(worker, patient(1), patient(2))
    await worker.take(structs.replace(patient(1), may_wait=False))
    await ticked(worker, 3)

    assert WAIT_S > 3
    (together,) = worker.provider.together
    assert sorted(together) == sorted(patient(each).request_id for each in (1, 2))
    assert len(worker.candidates) == 2 * len(POLICY.namespaces)
    assert worker.parking.rows == {}


async def test_a_single_waiting_request_is_sent_alone_after_the_wait_time_of_the_policy(worker):
    await delivered(worker, patient(1))
    await ticked(worker, int(WAIT_S) - 2)
    assert worker.provider.call_counts == {}
    await ticked(worker, 5)
    assert worker.provider.call_counts == {patient(1).request_id: 1}
    assert worker.provider.together == []
    assert worker.parking.rows == {}


async def test_waiting_requests_are_sent_early_once_they_have_enough_tokens(worker):
    half = POLICY.share_tokens // 4  # in each of two messages
    long = [
        structs.replace(each, messages=tuple(structs.replace(said, tokens=half) for said in each.messages))
        for each in (patient(1), patient(2))
    ]
    await delivered(worker, *long)
    await ticked(worker, 2)
    assert len(worker.provider.together) == 1


async def test_members_of_a_rejected_shared_call_are_retried_alone_and_only_the_bad_one_fails(worker):
    worker.provider.together_failures.append(Rejected("refused", "one of them"))
    worker.provider.failures += [Rejected("refused", "this one")]
    await delivered(worker, patient(1), patient(2))

    await ticked(worker, int(WAIT_S) + 5)

    assert worker.provider.call_counts == {patient(1).request_id: 1, patient(2).request_id: 1}
    assert [control.kind for control in worker.controls] == ["extraction_failed"]
    assert len(worker.candidates) == len(POLICY.namespaces)
    assert worker.parking.rows == {}


@pytest.mark.parametrize("error", [Retryable("overloaded"), Deferred(MONDAY, "budget")])
async def test_a_shared_call_with_a_temporary_failure_is_retried_as_a_shared_call(worker, error):
    worker.provider.together_failures.append(error)
    await delivered(worker, patient(1), patient(2))
    await ticked(worker, int(WAIT_S) + 12)
    assert len(worker.provider.together) == 2
    assert worker.provider.call_counts == {}
    assert len(worker.candidates) == 2 * len(POLICY.namespaces)
    assert worker.parking.rows == {}


async def test_a_shared_call_that_keeps_failing_is_split_into_single_calls(worker):
    worker.provider.together_failures.extend([Retryable("timed out")] * 10)
    await delivered(worker, patient(1), patient(2))
    await ticked(worker, int(WAIT_S) + 15)
    assert len(worker.provider.together) == SHARED_TRIES
    assert worker.provider.call_counts == {patient(1).request_id: 1, patient(2).request_id: 1}
    assert worker.parking.rows == {}


async def test_the_number_of_members_of_a_shared_call_is_bounded(worker):
    await delivered(worker, *map(patient, range(1, MAX_MEMBERS + 4)))
    await ticked(worker, int(WAIT_S) + 5)
    assert [len(together) for together in worker.provider.together] == [MAX_MEMBERS, 3]
    assert worker.parking.rows == {}


async def test_preceding_messages_of_a_slice_count_towards_the_tokens_of_a_shared_call(worker):
    earlier = tuple(structs.replace(each, content="x" * 300, tokens=9_000) for each in patient(1).messages)
    await delivered(worker, patient(1), patient(2, overlap=earlier))
    alone, after_others = (worker.parking.rows[patient(each).request_id].parked.tokens for each in (1, 2))
    assert after_others == alone + 200


async def test_a_configuration_error_releases_all_members_of_the_shared_call(worker):
    worker.provider.together_failures.append(Misconfigured("no such model"))
    await delivered(worker, patient(1), patient(2))
    with pytest.raises(Misconfigured):
        await ticked(worker, int(WAIT_S) + 5)
    await asyncio.sleep(1)
    assert [row.owner for row in worker.parking.rows.values()] == [None, None]


async def test_messages_erased_during_a_shared_call_yield_no_candidates(worker):
    worker.provider.takes_s = 5.0
    await delivered(worker, patient(1), patient(2, namespaces=("app/user", "app")), patient(3))
    worker.parking.rows.pop(patient(2).request_id)
    await ticked(worker, int(WAIT_S) + 1)
    assert len(worker.provider.together) == 1
    worker.extractions.fences = {name: utc() for name in patient(1).namespaces}
    await ticked(worker, 15)
    assert worker.provider.call_counts == {}
    assert [batch.candidates for batch in worker.candidates] == [()] * len(worker.candidates)
    assert worker.parking.rows == {}


async def test_members_claimed_by_a_dead_worker_are_answered_by_another_in_one_shared_call():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    await delivered(one, patient(1), patient(2))
    await asyncio.sleep(WAIT_S)
    await one.parking.claim("live", 2, "a dead worker", LEASE_S)
    await ticked(two, int(LEASE_S) + 5)
    assert len(two.provider.together) == 1
    assert len(two.candidates) == 2 * len(POLICY.namespaces)
    assert one.parking.rows == {}


async def test_another_worker_publishes_stored_answers_of_a_stopped_one_and_calls_the_model_for_the_rest():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, "worker-2", one.parking)
    one.publisher.failures += [Retryable("broker away")] * 100
    await delivered(one, patient(1), patient(2))
    await ticked(one, int(WAIT_S) + 3)
    assert len(one.provider.together) == 1
    await one.resuming.close()
    two.offset = one.offset
    await delivered(two, patient(3))
    await ticked(two, 40)
    assert two.provider.call_counts == {patient(3).request_id: 1}
    assert len({batch.request_id for batch in two.candidates}) == 3
    assert one.parking.rows == {}


async def test_a_member_leased_by_another_worker_does_not_delay_the_others():
    one = Worker(name="worker-1")
    await delivered(one, patient(1), patient(2), patient(3))
    await one.extractions.lease(patient(2), "another worker", 3_600.0)
    await ticked(one, int(WAIT_S) + 12)
    assert [len(together) for together in one.provider.together] == [2]
    assert set(one.parking.rows) == {patient(2).request_id}


async def test_a_store_outage_only_delays_a_shared_call(worker):
    worker.extractions.failures["store_answer"] = deque([Retryable("postgres away")])
    await delivered(worker, patient(1), patient(2))
    await ticked(worker, int(WAIT_S) + 30)
    assert worker.parking.rows == {}
    assert len(worker.candidates) == 2 * len(POLICY.namespaces)


class HeldSlots:
    """All places of a lane taken, so that a call waits for one without bound."""

    def __init__(self, worker: Worker) -> None:
        self._slots = worker.extractor._calls["live"]

    async def __aenter__(self) -> None:
        while not self._slots.locked():
            await self._slots.acquire()

    async def __aexit__(self, *raised: object) -> None:
        self._slots.release()


async def waiting_for_room(worker: Worker, *requests: ExtractionRequest) -> None:
    await delivered(worker, *requests)
    await ticked(worker, int(WAIT_S) + 2)
    assert (worker.provider.together, worker.provider.call_counts) == ([], {})


async def test_messages_erased_while_the_shared_call_waits_for_a_slot_are_sent_to_no_model(worker):
    one, two = patient(1), patient(2)
    async with HeldSlots(worker):
        await waiting_for_room(worker, one, two)
        worker.extractions.fences = {name: utc() for name in one.namespaces}
    await ticked(worker, 10)
    assert (worker.provider.together, worker.provider.call_counts) == ([], {})
    assert worker.parking.rows == {}


async def test_messages_erased_while_a_single_remaining_member_waits_for_a_slot_are_sent_to_no_model(worker):
    await delivered(worker, patient(1), patient(2))
    await worker.extractions.lease(patient(2), "another worker", 3_600.0)
    async with HeldSlots(worker):
        await ticked(worker, int(WAIT_S) + 10)
        worker.extractions.fences = {name: utc() for name in patient(1).namespaces}
    await ticked(worker, 10)
    assert (worker.provider.together, worker.provider.call_counts) == ([], {})


async def test_a_message_erased_during_the_call_of_a_single_remaining_member_makes_the_model_answer_without_it(worker):
    worker.provider.takes_s = 5.0
    request = patient(1)
    first, second = request.messages
    await delivered(worker, structs.replace(request, requested_at=second.timestamp), patient(2))
    await worker.extractions.lease(patient(2), "another worker", 3_600.0)
    await ticked(worker, int(WAIT_S) + 7)
    worker.extractions.person_fences = (
        Fence(first.timestamp - timedelta(days=1), {request.partition: second.position}),
    )
    await ticked(worker, 15)
    assert worker.provider.call_counts == {request.request_id: 2}
    assert {
        source.message_id for batch in worker.candidates for each in batch.candidates for source in each.sources
    } == {second.message_id}


@pytest.mark.parametrize("changed", [{"note": True}, {"share_wait_s": 0.0}])
async def test_a_policy_change_that_forbids_sharing_splits_a_call_that_waits_for_a_slot(worker, changed):
    async with HeldSlots(worker):
        await waiting_for_room(worker, patient(1), patient(2))
        worker.extractor._policies = Policies((structs.replace(POLICY, **changed),))
    await ticked(worker, 10)
    assert worker.provider.together == []
    assert worker.provider.call_counts == {patient(1).request_id: 1, patient(2).request_id: 1}


async def test_a_policy_change_to_local_only_applies_to_a_call_that_waits_for_a_slot(worker):
    async with HeldSlots(worker):
        await waiting_for_room(worker, patient(1), patient(2))
        worker.extractor._policies = Policies((structs.replace(POLICY, local_only=True),))
    await ticked(worker, 10)
    assert len(worker.provider.together) == 1
    assert [context.policy.local_only for context in worker.provider.contexts] == [True, True]


async def test_an_unexpected_error_caused_by_one_member_fails_no_other_member(worker):
    worker.provider.together_failures.append(ValueError("a mistake"))
    worker.provider.failures.append(ValueError("the same mistake"))
    await delivered(worker, patient(1), patient(2))
    await ticked(worker, int(WAIT_S) + 5)
    assert [control.kind for control in worker.controls] == ["extraction_failed"]
    assert len(worker.candidates) == len(POLICY.namespaces)
    assert worker.parking.rows == {}


async def test_a_rejected_single_remaining_member_is_not_sent_twice(worker):
    await delivered(worker, patient(1), patient(2))
    await worker.extractions.lease(patient(2), "another worker", 3_600.0)
    worker.provider.failures.append(Rejected("refused", "this one"))
    await ticked(worker, int(WAIT_S) + 10)
    assert worker.provider.call_counts == {patient(1).request_id: 1}
    assert [control.kind for control in worker.controls] == ["extraction_failed"]
