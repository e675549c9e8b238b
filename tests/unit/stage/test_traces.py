"""A message's trace continues through windows, requests and models to candidates, also where it is not recorded."""

import asyncio
from collections.abc import Iterator

import pytest
from msgspec import structs

from agents.dead_letters.writer import dead_letter_headers
from deploy.metrics.instrumented import MeasuredProvider
from deploy.metrics.meters import Meters
from schemas import codec
from schemas.extraction.requests import ExtractionRequest
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.observability import traces
from streams.kafka.publisher import CausedPublisher
from streams.windows.rows import rows
from tests.fakes.batches import batch_of
from tests.fakes.chats import CONVERSATION, ended
from tests.fakes.publisher import FakePublisher
from tests.fakes.spans import CAUSE, OTHER, Spans, linked, recorded, trace_id, trace_of
from tests.unit.extraction import extraction_stage
from tests.unit.extraction.parking_stage import deferred
from tests.unit.windows.stage import window_stage
from tests.unit.windows.stage.window_stage import MESSAGES, PARTITION, said

RECORD = Outgoing(topic=topics.COMMANDS, key=b"n", value=b"{}")


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recorded() as spans:
        yield spans


class Windows(window_stage.Stage):
    async def say_traced(self, number: int, traceparent: str | None) -> None:
        headers = () if traceparent is None else [("traceparent", traceparent.encode())]
        self.app.consumer.log_ends[MESSAGES, PARTITION] = self.offsets[MESSAGES] + 1
        given = batch_of(
            self.app.fence,
            MESSAGES,
            self.offsets[MESSAGES],
            [codec.encode(said(number))],
            partition=PARTITION,
            headers=headers,
        )
        self.offsets[MESSAGES] = given.end
        self.app.consumer.handed(MESSAGES, PARTITION, given.end)
        await self.agent.handle(given)

    async def requested(self):
        """The record of the request that the end of the conversation calls for."""
        await self.end(ended())
        await self.checkpoint()
        (record,) = (effect for effect in self.app.broker.effects if effect.topic == topics.REQUESTS)
        return record


class Extraction(extraction_stage.Worker):
    """Its publisher adds what the composition root's adds; `answered` hands it a request's record, which shares no call."""

    def __init__(self) -> None:
        super().__init__()
        measured = MeasuredProvider(self.provider, Meters())
        self.extractor._provider = measured
        self.extractor._publisher = CausedPublisher(self.publisher)

    async def answered(self, record) -> None:
        request = structs.replace(codec.decode(record.value, ExtractionRequest), may_wait=False)
        value = codec.encode(request)
        given = batch_of(self.app.fence, topics.REQUESTS, 0, [value], partition=3, headers=record.headers)
        await self.agent.handle(given)
        await asyncio.sleep(5)
        assert given.acked


def traceparent(record) -> bytes | None:
    return dict(record.headers).get("traceparent")


async def test_the_trace_of_a_message_is_stored_with_it_and_continues_to_its_candidates(spans):
    windows = await Windows().begin()
    await windows.say_traced(1, CAUSE)
    request = await windows.requested()
    extraction = Extraction()
    await extraction.answered(request)
    parts = extraction.publisher.on(topics.CANDIDATES)
    assert {trace_of(traceparent(part)) for part in parts} == {trace_of(CAUSE)}
    assert spans.names == [
        "windows process message",
        "windows request extraction",
        "model extract",
        "extraction answer",
    ]
    assert {trace_id(span) for span in spans.ended} == {trace_of(CAUSE)}
    parents = {span.name: span.parent.span_id for span in spans.ended}
    ids = {span.name: span.context.span_id for span in spans.ended}
    assert parents["windows request extraction"] == ids["windows process message"]
    assert parents["extraction answer"] == ids["windows request extraction"]
    assert parents["model extract"] == ids["extraction answer"]
    assert traceparent(parts[0]).decode().split("-")[2] == f"{ids['extraction answer']:016x}"


async def test_without_tracing_the_traceparent_is_still_propagated_to_the_candidates():
    windows = await Windows().begin()
    await windows.say_traced(1, CAUSE)
    extraction = Extraction()
    await extraction.answered(await windows.requested())
    assert {traceparent(part) for part in extraction.publisher.on(topics.CANDIDATES)} == {CAUSE.encode()}


async def test_a_request_of_messages_of_several_traces_links_to_each(spans):
    windows = await Windows().begin()
    for number, cause in enumerate((CAUSE, OTHER, None)):
        await windows.say_traced(number, cause)
    request = await windows.requested()
    asking = spans.named("windows request extraction")
    assert linked(asking) == {trace_of(CAUSE), trace_of(OTHER)}
    assert trace_of(traceparent(request)) == trace_id(asking) not in linked(asking)


async def test_a_trace_survives_a_rebalance_of_the_window_partition():
    first = await Windows().begin()
    await first.say_traced(1, CAUSE)
    await first.checkpoint()
    second = Windows(first.app.broker, first.clock)
    second.offsets = first.offsets
    await second.begin()
    assert traceparent(await second.requested()) == CAUSE.encode()


async def test_a_message_without_a_trace_stores_no_trace_field():
    windows = await Windows().begin()
    await windows.say_traced(1, None)
    row = windows.app.checkpointer[PARTITION].read(rows.chunk_key(CONVERSATION, 0))
    assert row is not None
    assert b"trace" not in row
    request = await windows.requested()
    assert traceparent(request) is None
    assert b'"trace"' not in request.value


async def test_an_invalid_traceparent_does_not_stop_processing():
    windows = await Windows().begin()
    await windows.say_traced(1, "00-no-trace")
    assert traceparent(await windows.requested()) is None


async def test_a_parked_request_resumes_with_its_trace():
    windows = await Windows().begin()
    await windows.say_traced(1, CAUSE)
    extraction = Extraction()
    extraction.provider.failures.append(deferred(1))
    await extraction.answered(await windows.requested())
    assert extraction.publisher.records == []
    for _ in range(20):
        await extraction.resuming.tick()
        await asyncio.sleep(1)
    assert {traceparent(part) for part in extraction.publisher.on(topics.CANDIDATES)} == {CAUSE.encode()}


async def test_spans_contain_ids_but_no_message_content(spans):
    windows = await Windows().begin()
    await windows.say_traced(1, CAUSE)
    request = await windows.requested()
    extraction = Extraction()
    extraction.provider.failures.append(ValueError("hello"))
    await extraction.answered(request)
    everything = "".join(span.to_json() for span in spans.ended)
    assert "hello" not in everything
    extraction_request = codec.decode(request.value, ExtractionRequest)
    attributes = spans.named("extraction answer").attributes
    assert attributes["memstream.request_id"] == extraction_request.request_id
    assert attributes["memstream.conversation_id"] == CONVERSATION
    (letter,) = extraction.publisher.on(topics.DEAD_LETTERS)
    assert dead_letter_headers(letter.headers)["reason"] == "unforeseen"
    assert trace_of(traceparent(letter)) == trace_of(CAUSE)  # published again, it goes on


async def test_the_overlap_messages_of_a_slice_do_not_contribute_their_traces():
    windows = await Windows(policy=structs.replace(window_stage.POLICY, overlap_messages=1)).begin()
    await windows.say_traced(1, CAUSE)
    await windows.requested()
    await windows.say_traced(2, OTHER)
    await windows.end(ended())
    await windows.checkpoint()
    record = [effect for effect in windows.app.broker.effects if effect.topic == topics.REQUESTS][-1]
    assert trace_of(traceparent(record)) == trace_of(OTHER)


async def test_individually_published_records_carry_the_current_trace():
    publisher = FakePublisher()
    with traces.span("work", causes=[CAUSE]):
        await CausedPublisher(publisher).publish([RECORD])
    await CausedPublisher(publisher).publish([RECORD])
    assert [traceparent(record) for record in publisher.records] == [CAUSE.encode(), None]
