"""Requests continue the trace of their caller."""

from collections.abc import Iterator

import pytest

from schemas.observability import traces
from tests.api import Api, a_memory
from tests.fakes.spans import CAUSE, Spans, recorded, trace_id, trace_of


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recorded() as spans:
        yield spans


async def test_a_command_of_a_request_continues_the_trace_of_the_caller(api: Api, monkeypatch: pytest.MonkeyPatch):
    seen_traces: list[str | None] = []
    send_and_wait = api.curation.send_and_wait

    async def noting(command):
        seen_traces.append(traces.current())
        return await send_and_wait(command)

    monkeypatch.setattr(api.curation, "send_and_wait", noting)
    client, body = api.client(write="*"), {"namespace": "app/ada", "text": "User plays chess."}
    await client.post("/v1/memories", json=body, headers={"traceparent": CAUSE})
    await client.post("/v1/memories", json=body | {"text": "User plays go."})
    await client.post("/v1/memories", json=body | {"text": "User plays bridge."}, headers={"traceparent": "nonsense"})
    assert seen_traces == [CAUSE, None, None]


async def test_a_span_is_named_after_the_route_and_contains_no_ids_from_the_path(api: Api, spans: Spans):
    api.memories.put(a_memory())
    client = api.client(read="app/*")
    await client.get("/v1/memories/m1", headers={"traceparent": CAUSE})
    await client.get("/v1/memories/nobody")
    await client.get("/v1/memories", params={"namespace": "app/zoe"})
    await client.get("/no/such/path/zoe")
    await client.get("/health/ready")
    found, missing, listed, nowhere = spans.ended
    assert (found.name, trace_id(found)) == ("GET /v1/memories/{memory_id}", trace_of(CAUSE))
    assert found.attributes["http.response.status_code"] == 200
    assert (missing.name, missing.attributes["http.response.status_code"]) == ("GET /v1/memories/{memory_id}", 404)
    assert (listed.name, nowhere.name) == ("GET /v1/memories", "GET")
    assert not any("zoe" in span.to_json() or "nobody" in span.to_json() for span in spans.ended)


async def test_the_span_of_a_failed_request_has_an_error_status(api: Api, spans: Spans):
    api.memories.down = True
    answer = await api.client(read="app/*").get("/v1/memories/m1")
    (span,) = spans.ended
    assert (answer.status_code, span.status.is_ok) == (503, False)
