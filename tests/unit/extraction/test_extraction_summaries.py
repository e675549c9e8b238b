"""Summaries of pruned messages in the extraction stage."""

import asyncio

import pytest
from msgspec import structs

from agents.dead_letters.writer import dead_letter_headers
from agents.extraction.extractor import LEASE_S
from agents.models.port import Answer
from schemas import codec
from schemas.errors import Rejected, Retryable
from schemas.extraction.requests import ExtractionRequest
from schemas.ids import summary_id
from schemas.kafka import topics
from schemas.windows.window_controls import WindowControl
from tests.unit.extraction.extraction_stage import PARTITION, POLICY, Worker, left, numbered_request


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_a_summary_is_sent_to_the_requesting_window_and_no_candidates_are_published(worker):
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


async def test_a_summary_does_not_look_up_related_memories(worker):
    worker.related.failures.append(Retryable("qdrant away"))
    batch = await worker.take(left())
    await asyncio.sleep(2)
    assert batch.acked


async def test_a_repeated_summary_request_returns_the_stored_summary_without_a_model_call(worker):
    await worker.take(left())
    await asyncio.sleep(2)
    await worker.take(left())
    await asyncio.sleep(2)
    assert worker.provider.call_counts == {left().request_id: 1}
    assert [control.summary for control in worker.controls] == ["answer 1", "answer 1"]


async def test_two_workers_with_the_same_summary_request_make_one_model_call():
    one = Worker(name="worker-1")
    two = Worker(one.extractions, name="worker-2")
    one.provider.takes_s = two.provider.takes_s = 10 * LEASE_S
    batches = [await one.take(left()), await two.take(left())]
    await asyncio.sleep(11 * LEASE_S)
    assert one.provider.call_counts + two.provider.call_counts == {left().request_id: 1}
    assert all(batch.acked for batch in batches)
    assert one.controls[0].summary == two.controls[0].summary == "answer 1"


async def test_a_failed_publication_of_a_summary_is_retried_without_another_model_call(worker):
    worker.publisher.failures.append(Retryable("broker away"))
    batch = await worker.take(left())
    await asyncio.sleep(60)
    assert batch.acked
    assert worker.provider.call_counts == {left().request_id: 1}
    assert len(worker.controls) == 1


async def test_a_summary_is_not_sent_once_the_partition_is_lost(worker):
    batch = await worker.take(left())
    await asyncio.sleep(0.5)
    worker.app.fence.shut()
    await asyncio.sleep(60)
    assert worker.publisher.records == []
    assert not batch.acked


async def test_a_rejected_summary_request_is_dead_lettered_without_notifying_the_window(worker):
    worker.provider.failures.append(Rejected("refused", "the model refused"))
    batch = await worker.take(left())
    await asyncio.sleep(2)
    assert batch.acked
    (letter,) = worker.publisher.records
    assert codec.decode(letter.value, ExtractionRequest) == left()
    assert dead_letter_headers(letter.headers)["reason"] == "refused"
    assert str(worker.extractions.rows[left().request_id].failed) == "refused: the model refused"


async def test_a_stored_answer_of_another_purpose_is_never_used_and_the_request_is_dead_lettered(worker):
    """The same request id with another purpose: a bug somewhere, which must not become an empty answer."""
    confused = (
        structs.replace(left(), request_id=numbered_request().request_id),
        structs.replace(numbered_request(2), request_id="shared"),
    )
    await worker.take(numbered_request(), structs.replace(left(2), request_id="shared"))
    await asyncio.sleep(2)
    sent = len(worker.publisher.records)
    await worker.take(*confused)
    await asyncio.sleep(2)
    dead_letters = worker.publisher.on(topics.DEAD_LETTERS)
    assert [dead_letter_headers(letter.headers)["reason"] for letter in dead_letters] == ["invalid", "invalid"]
    assert len(worker.publisher.records) == sent + len(dead_letters) + 1, (
        "only the extraction's window is told of its failure"
    )


async def test_an_answer_stored_before_summaries_existed_can_still_be_decoded(worker):
    stored = codec.encode({"provider": "fake", "model": "fake-1"})
    await worker.extractions.lease(numbered_request(), "worker-1", LEASE_S)
    await worker.extractions.store_answer(numbered_request().request_id, "worker-1", stored)
    batch = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert batch.acked
    assert [part.candidates for part in worker.candidates] == [(), ()]
    assert codec.decode(stored, Answer).provider == "fake"
