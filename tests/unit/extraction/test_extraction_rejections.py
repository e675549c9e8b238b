"""Rejected requests become dead letters, and the window is notified."""

import asyncio

import pytest

from agents.dead_letters.writer import dead_letter_headers
from agents.windows.records import outgoing
from agents.windows.request_headers import REQUEST_ID
from schemas import codec
from schemas.errors import Misconfigured, Rejected
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.windows.window_controls import WindowControl
from tests.fakes.batches import batch, record
from tests.fakes.clock import utc
from tests.unit.extraction.extraction_stage import PARTITION, Worker, numbered_request


@pytest.fixture
async def worker() -> Worker:
    return Worker()


async def test_a_rejected_request_is_dead_lettered_recorded_as_failed_and_reported_to_its_window(worker):
    worker.provider.failures.append(Rejected("refused", "the model refused"))
    batch = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert batch.acked
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert codec.decode(letter.value, ExtractionRequest) == numbered_request()
    assert dead_letter_headers(letter.headers)["reason"] == "refused"
    (control,) = worker.controls
    assert (control.kind, control.request_id, control.reason) == (
        "extraction_failed",
        numbered_request().request_id,
        "refused",
    )
    assert control.conversation_id == numbered_request().conversation_id
    assert worker.publisher.on(topics.WINDOW_CONTROL)[0].partition == PARTITION
    assert str(worker.extractions.rows[numbered_request().request_id].failed) == "refused: the model refused"
    assert worker.candidates == []


async def test_a_request_that_cannot_be_decoded_is_dead_lettered_and_the_rest_is_processed(worker):
    batch = await worker.take(b"{}", numbered_request())
    await asyncio.sleep(2)
    assert batch.acked
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert (letter.value, dead_letter_headers(letter.headers)["stage"]) == (b"{}", "extraction")
    assert len(worker.candidates) == 2


async def test_the_window_of_an_undecodable_request_is_notified_using_the_request_id_header(worker):
    sent = outgoing(numbered_request(), PARTITION, utc())
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
        numbered_request().request_id,
        "undecodable",
    )
    (record_of_control,) = worker.publisher.on(topics.WINDOW_CONTROL)
    assert (record_of_control.key, record_of_control.partition) == (sent.key, PARTITION)
    assert control.conversation_id == numbered_request().conversation_id


@pytest.mark.parametrize(
    ("key", "headers"),
    [(b"c", ()), (None, ((REQUEST_ID, b"r"),)), (b"\xff", ((REQUEST_ID, b"r"),)), (b"c", ((REQUEST_ID, b""),))],
)
async def test_an_undecodable_request_without_key_or_request_id_notifies_no_window(worker, key, headers):
    broken = record(topics.REQUESTS, 0, b"{", partition=PARTITION, key=key, headers=headers)
    given = batch(worker.app.fence, topics.REQUESTS, [broken], partition=PARTITION)
    await worker.agent.handle(given)
    await asyncio.sleep(2)
    assert given.acked
    assert [sent.topic for sent in worker.publisher.records] == [topics.DEAD_LETTERS]


async def test_an_unexpected_error_dead_letters_the_request_and_notifies_its_window(worker):
    worker.provider.failures.append(ValueError("a bug"))
    batch = await worker.take(numbered_request())
    await asyncio.sleep(2)
    (letter,) = worker.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == "unforeseen"
    (control,) = worker.publisher.on(topics.WINDOW_CONTROL)
    assert codec.decode(control.value, WindowControl).kind == "extraction_failed"
    assert batch.acked


async def test_a_configuration_error_stops_the_worker_without_an_ack(worker):
    error = Misconfigured("no such model")
    worker.provider.failures.append(error)
    batch = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert worker.app.crashes == [error]
    assert not batch.acked


async def test_an_internal_cancellation_stops_the_worker_without_an_ack(worker):
    worker.provider.failures.append(asyncio.CancelledError())
    given = await worker.take(numbered_request())
    await asyncio.sleep(2)
    assert not given.acked
    assert ["cancelled from within" in str(crash) for crash in worker.app.crashes] == [True]
