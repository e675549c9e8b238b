"""The trace of a message spans from its Kafka header through every stage to the header of the memory event."""

from collections.abc import AsyncIterator

import httpx
import pytest
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from schemas.kafka import topics
from tests.deployment import Deployment, Event, eventually
from tests.fakes.spans import CAUSE, OTHER, trace_of
from tests.integration.conftest import Deploy

AT = {"timestamp": "2026-03-01T10:00:00Z"}
SAID = "I am allergic to peanuts."
MESSAGE = {"message_id": "c-1", "role": "user", "content": SAID, "app_id": "a", "user_id": "u", "conversation_id": "c"}


class Collector:
    """Takes what OpenTelemetry's exporter sends over HTTP."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def take(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        return web.Response(content_type="application/x-protobuf")

    def spans(self, trace: str) -> dict[str, Span]:
        """Returns the spans of one trace by name."""
        sent = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        spans = [s for each in sent for r in each.resource_spans for scope in r.scope_spans for s in scope.spans]
        return {span.name: span for span in spans if span.trace_id.hex() == trace}


@pytest.fixture
async def collector(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Collector]:
    collector = Collector()
    app = web.Application()
    app.add_routes([web.post("/v1/traces", collector.take)])
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    yield collector
    await runner.cleanup()


async def event_of(deployment: Deployment, text: str) -> dict[str, bytes]:
    """The headers of the memory event whose memory says it."""

    async def found() -> dict[str, bytes] | None:
        for record in await deployment.records(topics.EVENTS):
            if text.encode() in (record.value or b""):
                return dict(record.headers)
        return None

    return await eventually(found, f"there is an event of {text!r}")


async def test_the_trace_of_a_message_continues_from_its_header_to_the_memory_events(
    deploy: Deploy, collector: Collector
):
    deployment = await deploy("traces", traces="otlp")
    worker = await deployment.worker()
    await deployment.publish(
        Event(topics.MESSAGES, "c", MESSAGE | AT, (("traceparent", CAUSE.encode()),)),
        Event(topics.ENDED, "c", {"conversation_id": "c", "message_count": 1} | AT),
    )
    headers = await event_of(deployment, "peanuts")
    async with httpx.AsyncClient(base_url=await deployment.api(), timeout=30) as client:
        command_body = {"namespace": "a/u", "text": "User plays chess."}
        assert (await client.post("/v1/memories", json=command_body, headers={"traceparent": OTHER})).status_code == 201
    commanded = await event_of(deployment, "chess")
    await deployment.settled()
    assert await worker.stop() == 0  # what is not sent yet is sent at the end
    await deployment.stop_workers()
    said, done = collector.spans(trace_of(CAUSE)), collector.spans(trace_of(OTHER))
    assert list(said) == [
        "windows process message",
        "windows request extraction",
        "model extract",
        "extraction answer",
        "outbox publish",
        "curation decide",
    ]
    assert trace_of(headers["traceparent"]) == trace_of(CAUSE)
    assert headers["traceparent"].decode().split("-")[2] == said["curation decide"].span_id.hex()
    assert said["curation decide"].parent_span_id == said["extraction answer"].span_id
    assert said["extraction answer"].parent_span_id == said["windows request extraction"].span_id
    assert said["windows process message"].parent_span_id.hex() == CAUSE.split("-")[2]
    assert set(done) == {"POST /v1/memories", "model score", "curation decide", "outbox publish"}
    assert trace_of(commanded["traceparent"]) == trace_of(OTHER)
    assert not any(word in body for body in collector.bodies for word in (b"peanuts", b"allergic", b"chess", b"a/u"))
