"""The extraction stage sends and stores nothing erased."""

import asyncio
from datetime import timedelta

import pytest
from msgspec import structs

from agents.extraction.erasure_filter import summary_without_erased
from agents.models.port import Summary
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Rejected
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.kafka import topics
from tests.fakes.chats import sliced
from tests.unit.extraction.extraction_stage import Worker, left, numbered_request


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_messages_older_than_the_erasure_of_their_namespaces_are_sent_to_no_model(worker):
    worker.extractions.fences = {
        name: numbered_request().messages[-1].timestamp for name in numbered_request().namespaces
    }
    given = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert given.acked
    assert not worker.provider.call_counts
    assert [batch.candidates for batch in worker.candidates] == [(), ()]


async def test_a_message_older_than_an_erasure_is_left_out_and_a_newer_one_is_extracted(worker):
    first, second = numbered_request().messages
    first = structs.replace(first, timestamp=second.timestamp - timedelta(minutes=1))
    worker.extractions.fences = dict.fromkeys(numbered_request().namespaces, first.timestamp)
    await worker.take(structs.replace(numbered_request(), messages=(first, second)))
    await asyncio.sleep(2)
    ((candidate,), _) = (batch.candidates for batch in worker.candidates)
    assert [source.message_id for source in candidate.sources] == [second.message_id]


async def test_messages_with_future_timestamps_do_not_get_past_an_erasure(worker):
    tomorrow = numbered_request().requested_at + timedelta(days=1)
    ahead = [structs.replace(each, timestamp=tomorrow) for each in numbered_request().messages]
    worker.extractions.fences = dict.fromkeys(numbered_request().namespaces, numbered_request().requested_at)
    await worker.take(structs.replace(numbered_request(), messages=tuple(ahead), overlap=tuple(ahead[:1])))
    await asyncio.sleep(2)
    assert not worker.provider.call_counts
    assert [batch.candidates for batch in worker.candidates] == [(), ()]


async def test_candidate_batches_carry_the_time_of_their_request(worker):
    await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert [batch.requested_at for batch in worker.candidates] == [numbered_request().requested_at] * 2


async def test_messages_that_feed_another_namespace_not_erased_are_still_extracted(worker):
    worker.extractions.fences = {numbered_request().namespaces[0]: numbered_request().messages[-1].timestamp}
    await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert all(batch.candidates for batch in worker.candidates)


async def test_an_answer_about_messages_erased_during_the_model_call_is_not_stored(worker):
    worker.provider.takes_s = 5.0
    await worker.take(numbered_request())
    await asyncio.sleep(1.0)
    worker.extractions.fences = {
        name: numbered_request().messages[-1].timestamp for name in numbered_request().namespaces
    }
    await asyncio.sleep(10)
    assert worker.provider.call_counts == {numbered_request().request_id: 1}
    assert [batch.candidates for batch in worker.candidates] == [(), ()]
    assert b"answer" not in (worker.extractions.rows[numbered_request().request_id].answer or b"").replace(
        b'"answers"', b""
    )


async def erased_during_the_call(worker: Worker, request: ExtractionRequest, erased: SliceMessage) -> None:
    """Erases everything up to a message while the model is asked about the request."""
    worker.provider.takes_s = 5.0
    await worker.take(request)
    await asyncio.sleep(1)
    worker.extractions.person_fences = (before(request, erased.position + 1),)
    await asyncio.sleep(15)


def before(request: ExtractionRequest, position: int) -> Fence:
    return Fence(request.messages[0].timestamp - timedelta(days=1), {request.partition: position})


async def test_a_message_erased_during_the_model_call_makes_the_model_answer_without_it(worker):
    request = structs.replace(numbered_request(), requested_at=numbered_request().messages[-1].timestamp)
    await erased_during_the_call(worker, request, request.messages[0])
    ((candidate,), _) = (batch.candidates for batch in worker.candidates)
    assert worker.provider.call_counts == {request.request_id: 2}
    assert candidate.text == "answer 2"
    assert [source.message_id for source in candidate.sources] == [request.messages[1].message_id]


async def test_nothing_of_context_erased_during_the_model_call_is_in_the_answer(worker):
    context = sliced(1, content="My sister is getting a divorce.")
    requested_at = numbered_request().messages[-1].timestamp
    request = structs.replace(numbered_request(), overlap=(context,), requested_at=requested_at)
    await erased_during_the_call(worker, request, context)
    assert worker.provider.call_counts == {request.request_id: 2}
    assert {each.text for batch in worker.candidates for each in batch.candidates} == {"answer 2"}


async def test_a_reply_of_a_batch_that_may_rest_on_an_erased_message_is_not_stored(worker):
    request = structs.replace(numbered_request(), overlap=(sliced(1),))
    answer = await worker.provider.extract(request, await worker.extractor._context(request))
    worker.extractions.person_fences = (before(request, 2),)
    request = structs.replace(request, requested_at=request.messages[-1].timestamp)
    with pytest.raises(Deferred, match="erased"):
        await worker.extractor.store_and_publish(request, "batch", answer, lambda: True)
    assert worker.extractions.rows == {} and worker.candidates == []


async def test_erased_messages_are_not_summarised(worker):
    worker.extractions.fences = {
        name: numbered_request().messages[-1].timestamp for name in numbered_request().namespaces
    }
    await worker.take(left())
    await asyncio.sleep(2)
    assert not worker.provider.summarised
    assert [control.summary for control in worker.controls] == [""]


async def test_messages_of_an_erased_user_or_conversation_are_sent_to_no_model(worker):
    worker.extractions.person_fences = (Fence(numbered_request().messages[-1].timestamp),)
    await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert not worker.provider.call_counts
    assert [batch.candidates for batch in worker.candidates] == [(), ()]


async def test_a_fence_erases_messages_by_offset_whatever_their_timestamp(worker):
    first, second = numbered_request().messages
    before = first.timestamp - timedelta(hours=1)
    worker.extractions.person_fences = (Fence(before, {numbered_request().partition: second.position}),)
    await worker.take(structs.replace(numbered_request(), requested_at=second.timestamp))
    await asyncio.sleep(2)
    ((candidate,), _) = (batch.candidates for batch in worker.candidates)
    assert [source.message_id for source in candidate.sources] == [second.message_id]


async def test_an_erased_request_joins_no_provider_batch_and_is_answered_at_once(worker):
    worker.extractions.person_fences = (Fence(numbered_request().messages[-1].timestamp),)
    assert await worker.extractor.enrol_in_batch(numbered_request(), "batch", lambda: True) is True
    assert not worker.provider.call_counts
    assert [batch.candidates for batch in worker.candidates] == [(), ()]


async def refused(worker: Worker, *erased: Fence) -> None:
    """The model refuses what is erased while it thinks."""
    worker.provider.takes_s = 5.0
    worker.provider.failures.append(Rejected("refused", "Zanzibar is no place to talk about"))
    await worker.take(numbered_request())
    await asyncio.sleep(1)
    worker.extractions.person_fences = erased
    await asyncio.sleep(10)


async def test_a_request_erased_while_the_model_refuses_it_is_not_dead_lettered(worker):
    await refused(worker, Fence(numbered_request().messages[-1].timestamp))
    assert not worker.publisher.on(topics.DEAD_LETTERS)
    assert [control.kind for control in worker.controls] == ["extraction_failed"]


async def test_a_request_partly_erased_while_the_model_refuses_it_is_dead_lettered_without_content(worker):
    before = numbered_request().messages[0].timestamp - timedelta(days=1)
    await refused(worker, Fence(before, {numbered_request().partition: numbered_request().messages[0].position + 1}))
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert letter.value is None
    assert dict(letter.headers)["memstream-by-reference"] == b"true"
    assert not any(b"Zanzibar" in value for _, value in letter.headers)


@pytest.mark.parametrize("purpose", ["extract", "summarise"])
async def test_an_erased_request_is_not_parked_and_is_answered_at_once(purpose):
    worker = Worker(background_concurrency=1)
    await worker.take(structs.replace(numbered_request(9), lane="background"))
    await asyncio.sleep(0.1)  # the one call that there may be is under way
    worker.extractions.person_fences = (Fence(numbered_request().messages[-1].timestamp),)
    request = numbered_request() if purpose == "extract" else left()
    await worker.take(structs.replace(request, lane="background"))
    await asyncio.sleep(20)
    assert not await worker.parking.holds(request.request_id)
    assert request.request_id not in worker.provider.call_counts
    assert not any(batch.candidates for batch in worker.candidates if batch.request_id == request.request_id)


async def test_a_request_erased_just_before_parking_is_answered_at_once():
    worker = Worker(background_concurrency=1)
    await worker.take(structs.replace(numbered_request(9), lane="background"))
    await asyncio.sleep(0.1)

    async def erased(*_: object) -> tuple[Fence, ...]:
        worker.extractions.person_fences = (Fence(numbered_request().messages[-1].timestamp),)
        return worker.extractions.person_fences

    worker.parking.fences_of = erased
    given = await worker.take(structs.replace(numbered_request(), lane="background"))
    await asyncio.sleep(20)
    assert given.acked
    assert not worker.parking.rows
    assert numbered_request().request_id not in worker.provider.call_counts


async def test_the_remaining_messages_of_a_partly_erased_request_are_parked():
    worker = Worker(background_concurrency=1)
    await worker.take(structs.replace(numbered_request(9), lane="background"))
    await asyncio.sleep(0.1)
    first, second = numbered_request().messages
    before = first.timestamp - timedelta(days=1)
    worker.extractions.person_fences = (Fence(before, {numbered_request().partition: second.position}),)
    request = structs.replace(numbered_request(), lane="background", requested_at=second.timestamp)
    await worker.take(request)
    await asyncio.sleep(0.5)
    parked = worker.parking.rows[request.request_id].parked.request()
    assert (parked.request_id, parked.messages) == (request.request_id, (second,))


async def test_a_summary_of_a_message_erased_meanwhile_is_empty():
    request = structs.replace(numbered_request(), purpose="summarise")
    summary = Summary(provider="p", model="m", text="They live in Zanzibar")
    assert (
        summary_without_erased(request, summary, {None: (Fence(numbered_request().messages[0].timestamp),)}).text == ""
    )
    assert summary_without_erased(request, summary, {}) == summary
