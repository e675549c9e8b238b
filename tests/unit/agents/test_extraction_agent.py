"""The extraction stage with a fake store, provider and publisher, in virtual time."""

import asyncio
from collections import deque
from datetime import timedelta

import pytest
from msgspec import structs

from agents.dead_letters import told
from agents.extractor import LEASE_S
from agents.llm.port import Answer
from agents.undecodable import REQUEST_ID
from agents.window_told import outgoing
from schemas import codec, ids, topics
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.ids import summary_id
from schemas.requests import ExtractionRequest, WindowControl
from schemas.windows import Calibration
from sinks.extractions import Leased
from tests.fakes.batches import batch, record
from tests.fakes.clock import settled, utc
from tests.unit.agents.extraction_stage import CALL, PARTITION, POLICY, Worker, asked, left


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_a_request_becomes_one_part_for_each_namespace_and_is_then_acked(worker):
    batch = await worker.take(asked())
    assert not batch.acked
    await asyncio.sleep(2)
    assert batch.acked
    first, second = worker.candidates
    assert [(part.namespace, part.part, part.parts) for part in (first, second)] == [("app", 1, 2), ("app/user", 2, 2)]
    assert [record.key for record in worker.publisher.records] == [b"app", b"app/user"]
    assert first.partition == PARTITION
    (candidate,) = second.candidates
    assert candidate.candidate_id == ids.candidate_id(asked().request_id, "app/user", 0)
    assert [(s.message_id, s.position) for s in candidate.sources] == [("m10", 10)]
    assert first.candidates[0].candidate_id != candidate.candidate_id


async def test_of_what_was_said_before_its_namespaces_were_erased_no_model_is_told(worker):
    worker.extractions.fences = {name: asked().messages[-1].timestamp for name in asked().namespaces}
    given = await worker.take(asked())
    await asyncio.sleep(2)
    assert given.acked
    assert not worker.provider.asked
    assert [batch.candidates for batch in worker.candidates] == [(), ()]


async def test_a_message_of_before_the_erasure_is_left_out_beside_one_of_after_it(worker):
    first, second = asked().messages
    first = structs.replace(first, timestamp=second.timestamp - timedelta(minutes=1))
    worker.extractions.fences = dict.fromkeys(asked().namespaces, first.timestamp)
    await worker.take(structs.replace(asked(), messages=(first, second)))
    await asyncio.sleep(2)
    ((candidate,), _) = (batch.candidates for batch in worker.candidates)
    assert [source.message_id for source in candidate.sources] == [second.message_id]


async def test_what_another_namespace_still_feeds_on_is_asked_about(worker):
    worker.extractions.fences = {asked().namespaces[0]: asked().messages[-1].timestamp}
    await worker.take(asked())
    await asyncio.sleep(2)
    assert all(batch.candidates for batch in worker.candidates)


async def test_what_comes_of_a_message_that_was_erased_while_the_model_was_asked_is_not_stored(worker):
    worker.provider.takes_s = 5.0
    await worker.take(asked())
    await asyncio.sleep(1.0)
    worker.extractions.fences = {name: asked().messages[-1].timestamp for name in asked().namespaces}
    await asyncio.sleep(10)
    assert worker.provider.asked == {asked().request_id: 1}
    assert [batch.candidates for batch in worker.candidates] == [(), ()]
    assert b"answer" not in (worker.extractions.rows[asked().request_id].answer or b"").replace(b'"answers"', b"")


async def test_of_messages_that_are_erased_there_is_no_summary(worker):
    worker.extractions.fences = {name: asked().messages[-1].timestamp for name in asked().namespaces}
    await worker.take(left())
    await asyncio.sleep(2)
    assert not worker.provider.summarised
    assert [control.summary for control in worker.controls] == [""]


async def test_what_was_not_kept_of_an_answer_is_stored_with_it_and_told(worker, caplog):
    worker.provider.rejected = {"kind": 2}
    with caplog.at_level("INFO"):
        await worker.take(asked())
        await asyncio.sleep(2)
    stored = worker.extractions.rows[asked().request_id].answer
    assert codec.decode(stored, Answer).rejected == {"kind": 2}
    assert "{'kind': 2}" in caplog.text


async def test_the_provider_is_told_the_policy_of_the_request(worker):
    await worker.take(asked())
    await asyncio.sleep(2)
    assert worker.provider.contexts[0].policy == POLICY


async def test_a_redelivered_request_gets_the_stored_answer_again_without_a_call(worker):
    await worker.take(asked())
    await asyncio.sleep(2)
    first = worker.candidates
    await worker.take(asked())
    await asyncio.sleep(2)
    again = worker.candidates[2:]
    assert worker.provider.asked == {asked().request_id: 1}
    assert [part.candidates for part in again] == [part.candidates for part in first]


async def test_the_same_request_twice_at_a_time_is_one_call(worker):
    batches = [await worker.take(asked(), asked()), await worker.take(asked())]
    await asyncio.sleep(10)
    assert worker.provider.asked == {asked().request_id: 1}
    assert all(batch.acked for batch in batches)
    assert {part.candidates[0].text for part in worker.candidates} == {"answer 1"}


async def test_two_workers_ask_once_between_them():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, name="worker-2")
    one.provider.takes_s = two.provider.takes_s = 10 * LEASE_S  # the running call keeps its lease
    batches = [await one.take(asked()), await two.take(asked())]
    await asyncio.sleep(11 * LEASE_S)
    assert one.provider.asked + two.provider.asked == {asked().request_id: 1}
    assert all(batch.acked for batch in batches)
    assert one.candidates[0].candidates == two.candidates[0].candidates


async def test_a_renewal_that_fails_does_not_end_the_lease_of_a_running_call():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, name="worker-2")
    one.provider.takes_s = 10 * LEASE_S
    one.extractions.failures["renew"] = deque([Retryable("postgres away")])
    await one.take(asked())
    await settled()
    await two.take(asked())
    await asyncio.sleep(11 * LEASE_S)
    assert one.provider.asked + two.provider.asked == {asked().request_id: 1}


async def test_a_request_whose_lease_passed_to_another_worker_while_it_waited_for_room_is_not_asked_beside_it():
    worker = Worker(concurrency=1)
    worker.provider.takes_s = 4 * LEASE_S
    await worker.take(asked(1))
    await settled()
    batch = await worker.take(asked(2))
    await settled()
    taken = worker.extractions.rows[asked(2).request_id]
    taken.owner, taken.until = "another worker", utc() + timedelta(seconds=6 * LEASE_S)
    await asyncio.sleep(5 * LEASE_S)
    assert worker.provider.asked == {asked(1).request_id: 1}
    await asyncio.sleep(10 * LEASE_S)  # the other one died meanwhile
    assert worker.provider.asked == {asked(1).request_id: 1, asked(2).request_id: 1}
    assert batch.acked


async def test_the_lease_of_a_worker_that_died_is_taken_over_once_it_ran_out(worker):
    lease = await worker.extractions.lease(asked(), "dead worker", LEASE_S)
    assert isinstance(lease, Leased)
    batch = await worker.take(asked())
    await asyncio.sleep(LEASE_S - 0.1)
    assert worker.provider.asked == {}
    assert not batch.acked
    await asyncio.sleep(3)
    assert batch.acked


async def test_who_waits_for_another_owner_holds_no_place_among_the_calls():
    worker = Worker(concurrency=1)
    for number in range(2, 6):
        await worker.extractions.lease(asked(number), "somebody else", 1_000)
        await worker.take(asked(number))
    batch = await worker.take(asked(1))
    await asyncio.sleep(2)
    assert batch.acked


async def test_calls_are_bounded_by_the_concurrency():
    worker = Worker(concurrency=2)
    batch = await worker.take(*(asked(number) for number in range(1, 7)))
    await asyncio.sleep(2.5)
    assert not batch.acked
    await asyncio.sleep(2.5)
    assert worker.provider.most == 2
    assert batch.acked


async def test_no_more_is_taken_on_than_stated():
    worker = Worker(in_flight=2)
    await worker.take(asked(1))
    await worker.take(asked(2))
    third = asyncio.create_task(worker.take(asked(3)))
    await settled()
    assert not third.done()
    await asyncio.sleep(1.5)
    assert third.done()
    await asyncio.sleep(2)


async def test_batches_are_acked_in_the_order_they_end(worker):
    worker.provider.slow[asked(1).request_id] = 50.0
    slow, quick = await worker.take(asked(1)), await worker.take(asked(2))
    await asyncio.sleep(2)
    assert quick.acked
    assert not slow.acked
    await asyncio.sleep(50)
    assert slow.acked


async def test_a_batch_is_acked_when_all_of_its_requests_are_done(worker):
    worker.provider.slow[asked(1).request_id] = 50.0
    batch = await worker.take(asked(1), asked(2))
    await asyncio.sleep(2)
    assert [part.request_id for part in worker.candidates] == [asked(2).request_id] * 2
    assert not batch.acked
    await asyncio.sleep(50)
    assert batch.acked


async def test_a_provider_that_is_down_is_asked_again_and_its_lease_given_back(worker):
    worker.provider.failures += [Retryable("overloaded"), Retryable("overloaded")]
    batch = await worker.take(asked())
    await asyncio.sleep(1.05)
    assert "release" in worker.extractions.calls
    assert not batch.acked
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.asked == {asked().request_id: 3}
    assert len(worker.candidates) == 2


@pytest.mark.parametrize("name", ["lease", "store_answer"])
async def test_a_store_that_is_down_is_tried_again(worker, name):
    worker.extractions.failures[name] = deque([Retryable("postgres away")])
    batch = await worker.take(asked())
    await asyncio.sleep(60)
    assert batch.acked
    assert len(worker.candidates) == 2


async def test_related_memories_that_cannot_be_looked_up_are_tried_again_before_the_model_is_asked(worker):
    worker.related.failures.append(Retryable("qdrant away"))
    batch = await worker.take(asked())
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.asked == {asked().request_id: 1}


async def test_a_publisher_that_is_down_is_tried_again_without_another_call(worker):
    worker.publisher.failures.append(Retryable("broker away"))
    batch = await worker.take(asked())
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.asked == {asked().request_id: 1}
    assert len(worker.candidates) == 2


async def test_what_can_never_be_answered_is_dead_lettered_recorded_and_told_to_its_window(worker):
    worker.provider.failures.append(Rejected("refused", "the model refused"))
    batch = await worker.take(asked())
    await asyncio.sleep(2)
    assert batch.acked
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert codec.decode(letter.value, ExtractionRequest) == asked()
    assert told(letter.headers)["reason"] == "refused"
    (control,) = worker.controls
    assert (control.kind, control.request_id, control.reason) == (
        "extraction_failed",
        asked().request_id,
        "refused",
    )
    assert control.conversation_id == asked().conversation_id
    assert worker.publisher.on(topics.WINDOW_CONTROL)[0].partition == PARTITION
    assert str(worker.extractions.rows[asked().request_id].failed) == "refused: the model refused"
    assert worker.candidates == []


async def test_a_request_that_does_not_decode_is_dead_lettered_and_the_rest_goes_on(worker):
    batch = await worker.take(b"{}", asked())
    await asyncio.sleep(2)
    assert batch.acked
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert (letter.value, told(letter.headers)["stage"]) == (b"{}", "extraction")
    assert len(worker.candidates) == 2


async def test_the_window_of_a_request_that_does_not_decode_is_told_by_the_header_and_asks_no_more(worker):
    sent = outgoing(asked(), PARTITION, utc())
    broken = record(topics.REQUESTS, 0, sent.value[:100], partition=sent.partition, key=sent.key, headers=sent.headers)
    given = batch(worker.app.fence, topics.REQUESTS, [broken], partition=PARTITION)
    await worker.agent.handle(given)
    await asyncio.sleep(2)
    assert given.acked
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert (letter.value, letter.headers[0]) == (sent.value[:100], sent.headers[0])
    (control,) = worker.controls
    assert (control.kind, control.request_id, control.reason) == (
        "extraction_failed",
        asked().request_id,
        "undecodable",
    )
    (record_of_control,) = worker.publisher.on(topics.WINDOW_CONTROL)
    assert (record_of_control.key, record_of_control.partition) == (sent.key, PARTITION)
    assert control.conversation_id == asked().conversation_id


@pytest.mark.parametrize(
    ("key", "headers"),
    [(b"c", ()), (None, ((REQUEST_ID, b"r"),)), (b"\xff", ((REQUEST_ID, b"r"),)), (b"c", ((REQUEST_ID, b""),))],
)
async def test_no_window_is_told_of_a_request_that_nothing_names(worker, key, headers):
    broken = record(topics.REQUESTS, 0, b"{", partition=PARTITION, key=key, headers=headers)
    given = batch(worker.app.fence, topics.REQUESTS, [broken], partition=PARTITION)
    await worker.agent.handle(given)
    await asyncio.sleep(2)
    assert given.acked
    assert [sent.topic for sent in worker.publisher.records] == [topics.DEAD_LETTERS]


async def test_a_slice_that_fails_for_an_unforeseen_reason_is_dead_lettered_and_the_window_lets_go(worker):
    worker.provider.failures.append(ValueError("a bug"))
    batch = await worker.take(asked())
    await asyncio.sleep(2)
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert told(letter.headers)["reason"] == "unforeseen"
    (control,) = worker.publisher.on(topics.WINDOW_CONTROL)
    assert codec.decode(control.value, WindowControl).kind == "extraction_failed"
    assert batch.acked


async def test_a_wrong_set_up_stops_the_worker_with_nothing_acked(worker):
    error = Misconfigured("no such model")
    worker.provider.failures.append(error)
    batch = await worker.take(asked())
    await asyncio.sleep(2)
    assert worker.app.crashes == [error]
    assert not batch.acked


@pytest.mark.parametrize("outcome", [None, Rejected("refused", "no"), Retryable("overloaded")])
async def test_nothing_is_sent_and_nothing_acked_once_the_partition_is_lost(worker, outcome):
    if outcome is not None:
        worker.provider.failures.append(outcome)
    batch = await worker.take(asked())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    worker.app.fence.open()
    await asyncio.sleep(60)
    assert worker.publisher.records == []
    assert worker.provider.asked == {asked().request_id: 1}
    assert not batch.acked


async def test_what_a_model_rejected_as_the_partition_was_lost_is_told_by_the_next_owner_without_asking_again(worker):
    worker.provider.failures.append(Rejected("refused", "the model refused"))
    await worker.take(asked())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    worker.app.fence.open()
    await asyncio.sleep(60)
    next_owner = Worker(worker.extractions, "worker-2")
    given = await next_owner.take(asked())
    await asyncio.sleep(2)
    assert given.acked
    assert not next_owner.provider.asked
    (letter,) = next_owner.publisher.on(topics.DEAD_LETTERS)
    assert told(letter.headers)["reason"] == "refused"
    assert told(letter.headers)["detail"] == "the model refused"
    await next_owner.take(asked())
    await asyncio.sleep(2)
    assert next_owner.provider.asked == {asked().request_id: 1}, "a dead letter that was told may be replayed"


async def test_a_dead_letter_that_could_not_be_sent_is_not_sent_after_the_partition_is_lost(worker):
    worker.publisher.failures.append(Retryable("broker away"))
    batch = await worker.take(b"{}")
    await settled()
    worker.app.fence.shut()
    await asyncio.sleep(60)
    assert worker.publisher.records == []
    assert not batch.acked


async def test_an_answer_that_came_too_late_to_send_is_there_for_the_next_owner(worker):
    await worker.take(asked())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    successor = Worker(worker.extractions, name="worker-2")
    batch = await successor.take(asked())
    await asyncio.sleep(30)
    assert successor.provider.asked == {}
    assert len(successor.candidates) == 2
    assert batch.acked


async def test_who_waits_for_another_owner_gives_up_once_the_partition_is_lost(worker):
    await worker.extractions.lease(asked(), "somebody else", 1_000)
    batch = await worker.take(asked())
    worker.app.fence.shut()
    await asyncio.sleep(2_000)
    assert worker.provider.asked == {}
    assert not batch.acked


async def test_what_is_under_way_while_the_epoch_closes_is_still_sent_and_acked(worker):
    batch = await worker.take(asked())
    worker.app.fence.close()
    await asyncio.sleep(2)
    assert len(worker.candidates) == 2
    assert batch.acked


async def test_a_summary_is_told_to_the_window_that_asked_and_nothing_is_proposed(worker):
    batch = await worker.take(left(summary="User plays chess."))
    await asyncio.sleep(2)
    assert batch.acked
    (control,) = worker.controls
    assert control == WindowControl(
        conversation_id=left().conversation_id,
        kind="summarised",
        at=control.at,
        request_id=left().request_id,
        first=3,
        last=11,
        summary="answer 1",
        known=summary_id("User plays chess."),
    )
    (record,) = worker.publisher.records
    assert (record.key, record.partition) == (left().conversation_id.encode(), PARTITION)
    assert worker.provider.summarised == [(left(summary="User plays chess."), POLICY)]
    assert worker.provider.contexts == []


async def test_a_summary_needs_no_related_memories(worker):
    worker.related.failures.append(Retryable("qdrant away"))
    batch = await worker.take(left())
    await asyncio.sleep(2)
    assert batch.acked


async def test_a_summary_asked_for_again_is_the_stored_one_without_a_call(worker):
    await worker.take(left())
    await asyncio.sleep(2)
    await worker.take(left())
    await asyncio.sleep(2)
    assert worker.provider.asked == {left().request_id: 1}
    assert [control.summary for control in worker.controls] == ["answer 1", "answer 1"]


async def test_the_same_summary_asked_of_two_workers_is_one_call():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, name="worker-2")
    one.provider.takes_s = two.provider.takes_s = 10 * LEASE_S
    batches = [await one.take(left()), await two.take(left())]
    await asyncio.sleep(11 * LEASE_S)
    assert one.provider.asked + two.provider.asked == {left().request_id: 1}
    assert all(batch.acked for batch in batches)
    assert one.controls[0].summary == two.controls[0].summary == "answer 1"


async def test_a_summary_that_could_not_be_published_is_tried_again_without_another_call(worker):
    worker.publisher.failures.append(Retryable("broker away"))
    batch = await worker.take(left())
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.asked == {left().request_id: 1}
    assert len(worker.controls) == 1


async def test_a_summary_is_not_sent_once_the_partition_is_lost(worker):
    batch = await worker.take(left())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    await asyncio.sleep(60)
    assert worker.publisher.records == []
    assert not batch.acked


async def test_a_summary_that_can_never_be_made_is_dead_lettered_and_no_window_waits_for_it(worker):
    worker.provider.failures.append(Rejected("refused", "the model refused"))
    batch = await worker.take(left())
    await asyncio.sleep(2)
    assert batch.acked
    (letter,) = worker.publisher.records
    assert codec.decode(letter.value, ExtractionRequest) == left()
    assert told(letter.headers)["reason"] == "refused"
    assert str(worker.extractions.rows[left().request_id].failed) == "refused: the model refused"


async def test_an_answer_to_something_else_is_taken_neither_for_a_summary_nor_for_an_extraction(worker):
    """The same request id with another purpose: a bug somewhere, which must not become an empty answer."""
    confused = structs.replace(left(), request_id=asked().request_id), structs.replace(asked(2), request_id="shared")
    await worker.take(asked(), structs.replace(left(2), request_id="shared"))
    await asyncio.sleep(2)
    sent = len(worker.publisher.records)
    await worker.take(*confused)
    await asyncio.sleep(2)
    letters = worker.publisher.on(topics.DEAD_LETTERS)
    assert [told(letter.headers)["reason"] for letter in letters] == ["invalid", "invalid"]
    assert len(worker.publisher.records) == sent + len(letters) + 1, (
        "only the extraction's window is told of its failure"
    )


async def test_an_answer_stored_before_summaries_were_made_is_still_read(worker):
    stored = codec.encode({"provider": "fake", "model": "fake-1"})
    await worker.extractions.lease(asked(), "worker-1", LEASE_S)
    await worker.extractions.store_answer(asked().request_id, "worker-1", stored)
    batch = await worker.take(asked())
    await asyncio.sleep(2)
    assert batch.acked
    assert [part.candidates for part in worker.candidates] == [(), ()]
    assert codec.decode(stored, Answer).provider == "fake"


@pytest.mark.parametrize("make", [asked, left])
async def test_a_call_teaches_how_its_model_counts_and_a_stored_answer_teaches_nothing(worker, make):
    worker.provider.calls = (CALL,)
    await worker.take(make())
    await asyncio.sleep(2)
    assert worker.calibrations.known == {"fake-1": Calibration(1.2, 1)}
    await worker.take(make())
    await asyncio.sleep(2)
    assert worker.calibrations.lessons == 1


async def test_a_provider_that_counts_nothing_teaches_nothing(worker):
    await worker.take(asked(), left())
    await asyncio.sleep(2)
    assert worker.calibrations.lessons == 0


@pytest.mark.parametrize("error", [Retryable("postgres away"), ValueError("a bug")])
async def test_a_lesson_that_cannot_be_kept_changes_nothing_else(worker, error):
    worker.provider.calls = (CALL,)
    worker.calibrations.failures.append(error)
    batch = await worker.take(asked())
    await asyncio.sleep(2)
    assert batch.acked
    assert worker.provider.asked == {asked().request_id: 1}
    assert len(worker.candidates) == 2


async def test_nobody_waits_for_a_lesson(worker):
    worker.provider.calls = (CALL,)
    worker.calibrations.takes_s = 1_000.0
    batch = await worker.take(asked())
    await asyncio.sleep(2)
    assert batch.acked
    assert worker.calibrations.lessons == 1
    await worker.agent.close()
    assert worker.calibrations.known == {}


@pytest.mark.parametrize("make", [asked, left])
async def test_what_was_said_under_a_policy_that_kept_it_here_stays_when_the_policy_is_gone(worker, make):
    worker.provider.leaves_machine = True
    await worker.take(structs.replace(make(), policy="gone", local_only=True))
    await asyncio.sleep(2)
    policies = [context.policy for context in worker.provider.contexts]
    policies += [policy for _, policy in worker.provider.summarised]
    assert [(policy.name, policy.local_only) for policy in policies] == [("default", True)]


async def test_a_cancellation_that_nobody_asked_for_stops_the_worker_and_acks_nothing(worker):
    worker.provider.failures.append(asyncio.CancelledError())
    given = await worker.take(asked())
    await asyncio.sleep(2)
    assert not given.acked
    assert ["cancelled from within" in str(crash) for crash in worker.app.crashes] == [True]
