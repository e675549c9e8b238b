"""The sample client: retries, errors and resumed streams."""

import ast
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from fastapi.sse import format_sse_event
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.samples import memstream_client, memstream_events
from deploy.samples.memstream_client import (
    Conflict,
    Event,
    Forbidden,
    Invalid,
    Memstream,
    NotFound,
    Problem,
    Unauthorized,
    Unavailable,
    frames,
)

MEMORY = {
    "memory_id": "m1",
    "namespace": "kitchen/ada",
    "kind": "fact",
    "text": "User keeps bees.",
    "importance": 0.5,
    "confidence": 0.9,
    "version": 1,
    "sequence": 1,
    "status": "active",
    "created_at": "2026-03-02T12:00:00Z",
    "updated_at": "2026-03-02T12:00:00Z",
    "created_by": "offline",
}
SETTLED = {"command_id": "c1", "namespace": "kitchen/ada", "status": "accepted", "change": "created", "memory_id": "m1"}

Answers = Callable[[httpx.Request], httpx.Response]


class Server:
    """Answers by a script, then with what it is asked for; `seen` keeps the requests, `slept` how long the client waited."""

    def __init__(self, *script: httpx.Response | Exception) -> None:
        self.script = list(script)
        self.seen: list[httpx.Request] = []
        self.slept: list[float] = []

    def client(self) -> Memstream:
        return Memstream("http://memstream", "EXAMPLE", transport=httpx.MockTransport(self._answer), sleep=self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        assert self.script, f"nothing is scripted for {request.method} {request.url}"
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def refused(status: int, code: str = "some-code", **headers: str) -> httpx.Response:
    problem = {
        "type": f"urn:memstream:problem:{code}",
        "title": "x",
        "status": status,
        "detail": "do this",
        "request_id": "r1",
    }
    return httpx.Response(status, json=problem, headers=headers | {"content-type": "application/problem+json"})


def event_frame(sequence: int, **data: Any) -> bytes:
    about = {"change": "created", "namespace": "kitchen/ada", "sequence": sequence, "memory": MEMORY} | data
    event = {"type": "memstream.memory.created", "data": about}
    return format_sse_event(
        id=f"kitchen%2Fada={sequence}", event=event["type"], data_str=json.dumps(event, ensure_ascii=False)
    )


async def first(events: AsyncIterator[Event], count: int) -> list[Event]:
    return [await anext(events) for _ in range(count)]


async def test_a_busy_server_is_retried_after_its_retry_after_seconds() -> None:
    server = Server(
        refused(429, **{"Retry-After": "3"}),
        refused(503, **{"Retry-After": "900"}),
        httpx.ConnectError("refused"),
        httpx.Response(200, json=MEMORY),
    )
    async with server.client() as client:
        memory = await client.get("m1")
    assert (memory.text, memory.more["sequence"]) == ("User keeps bees.", 1)
    assert server.slept[:2] == [3, 30] and 0 < server.slept[2] < 5
    assert {request.headers["Authorization"] for request in server.seen} == {"Bearer EXAMPLE"}


async def test_a_retried_change_keeps_its_idempotency_key_and_each_change_has_its_own() -> None:
    server = Server(refused(503), *[httpx.Response(201, json=SETTLED)] * 2)
    async with server.client() as client:
        settled = await client.create("kitchen/ada", "User keeps bees.", tags=["garden"])
        await client.create("kitchen/ada", "User keeps bees.")
    assert (settled.status, settled.memory_id) == ("accepted", "m1")
    first_key, again, other = [request.headers["Idempotency-Key"] for request in server.seen]
    assert first_key == again != other
    assert json.loads(server.seen[0].content) == {
        "namespace": "kitchen/ada",
        "text": "User keeps bees.",
        "tags": ["garden"],
    }


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (401, Unauthorized),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (412, Conflict),
        (422, Invalid),
        (418, Problem),
    ],
)
async def test_a_client_error_raises_its_exception_without_a_retry(status: int, raised: type[Problem]) -> None:
    server = Server(refused(status, "the-code"))
    async with server.client() as client:
        with pytest.raises(raised) as caught:
            await client.get("m1")
    problem = caught.value
    assert (problem.status, problem.code, problem.detail, problem.request_id) == (status, "the-code", "do this", "r1")
    assert server.slept == []


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError("refused"), httpx.Response(502, text="<html>Bad gateway</html>")]
)
async def test_a_persistent_outage_raises_unavailable_after_five_attempts(failure: Any) -> None:
    server = Server(*[failure] * 5)
    async with server.client() as client:
        with pytest.raises(Unavailable):
            await client.get("m1")
    assert (len(server.seen), len(server.slept)) == (5, 4)


@pytest.mark.parametrize("memory_id", ["m1/pin", "../commands", "..", ".", ""])
async def test_an_id_that_would_change_the_path_is_rejected_before_sending(memory_id: str) -> None:
    server = Server()
    async with server.client() as client:
        for method in (client.get, client.update, client.delete, client.undo):
            with pytest.raises(Invalid):
                await method(memory_id)
    assert server.seen == []


async def test_an_id_is_percent_encoded_in_the_path() -> None:
    server = Server(httpx.Response(200, json=SETTLED))
    async with server.client() as client:
        await client.delete("m1?if#100%25 é")
    assert server.seen[0].url.raw_path == b"/v1/memories/m1%3Fif%23100%2525%20%C3%A9"


async def test_a_pending_change_is_polled_until_it_is_settled() -> None:
    pending = {"command_id": "c1", "namespace": "kitchen/ada", "status": "pending"}
    server = Server(*[httpx.Response(202, json=pending)] * 2, httpx.Response(200, json=SETTLED))
    async with server.client() as client:
        settled = await client.wait_for(await client.delete("m1"))
    assert settled.change == "created"
    assert server.seen[-1].url.params["namespace"] == "kitchen/ada"


async def test_a_list_is_read_across_all_pages() -> None:
    pages = [{"memories": [MEMORY], "next": "n1"}, {"memories": [MEMORY | {"memory_id": "m2"}]}]
    server = Server(*(httpx.Response(200, json=page) for page in pages))
    async with server.client() as client:
        assert [memory.memory_id async for memory in client.memories("kitchen/ada", kind=["fact"])] == ["m1", "m2"]
    assert server.seen[1].url.params.multi_items() == [("kind", "fact"), ("namespace", "kitchen/ada"), ("cursor", "n1")]


async def test_a_broken_event_stream_resumes_after_the_last_event_and_yields_each_once() -> None:
    server = Server(
        httpx.Response(200, content=format_sse_event(id="kitchen%2Fada=6", retry=1000) + event_frame(7)),
        httpx.ReadTimeout("silence"),
        refused(503),
        httpx.Response(200, content=b": ping\n\n" + event_frame(8) + event_frame(9)),
    )
    async with server.client() as client:
        events = await first(client.events("kitchen/ada", "kitchen/tom"), 3)
    assert [event.sequence for event in events] == [7, 8, 9]
    assert [request.headers.get("Last-Event-ID") for request in server.seen] == [None, *["kitchen%2Fada=7"] * 3]
    assert server.seen[0].url.params.get_list("namespace") == ["kitchen/ada", "kitchen/tom"]
    assert (events[0].change, events[0].memory.text if events[0].memory else "") == ("created", "User keeps bees.")
    assert server.slept[0] <= server.slept[1] <= server.slept[2]


async def test_a_position_received_before_any_event_is_used_to_resume() -> None:
    server = Server(
        httpx.Response(200, content=format_sse_event(id="kitchen%2Fada=6", retry=1000)),
        httpx.Response(200, content=event_frame(7)),
    )
    async with server.client() as client:
        await first(client.events("kitchen/ada"), 1)
    assert server.seen[1].headers["Last-Event-ID"] == "kitchen%2Fada=6"


async def test_a_rejected_event_stream_raises_and_an_erasure_is_yielded_as_an_event() -> None:
    erased = {"type": "memstream.namespace.erased", "data": {"namespace": "kitchen/ada", "sequence": 9}}
    content = format_sse_event(id="kitchen%2Fada=9", event="memstream.namespace.erased", data_str=json.dumps(erased))
    server = Server(httpx.Response(200, content=content), refused(409))
    async with server.client() as client:
        events = client.events("kitchen/ada", after="kitchen%2Fada=3")
        (event,) = await first(events, 1)
        assert (event.erased, event.sequence, event.change) == (True, 9, "erased")
        with pytest.raises(Conflict):
            await anext(events)
    assert server.seen[0].headers["Last-Event-ID"] == "kitchen%2Fada=3"


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"])), max_size=4),
    st.lists(st.integers(1, 30), min_size=1, max_size=20),
)
async def test_events_are_parsed_correctly_for_any_chunk_boundaries(texts: list[str], cuts: list[int]) -> None:
    """Also where a text holds what Unicode takes for the end of a line."""
    texts = ["a\u2028b\x85c\u2029", *texts]
    sent = b"".join(
        format_sse_event(id=str(number), data_str=json.dumps(text, ensure_ascii=False))
        for number, text in enumerate(texts)
    )

    async def received() -> AsyncIterator[bytes]:
        rest, number = sent, 0
        while rest:
            cut = cuts[number % len(cuts)]
            yield rest[:cut]
            rest, number = rest[cut:], number + 1

    assert [(position, json.loads(data)) async for position, data in frames(received())] == [
        (str(number), text) for number, text in enumerate(texts)
    ]


@pytest.mark.parametrize(("sample", "packages"), [(memstream_client, {"httpx"}), (memstream_events, set())])
def test_the_samples_to_copy_import_nothing_but_httpx_and_the_standard_library(
    sample: ModuleType, packages: set[str]
) -> None:
    tree = ast.parse(Path(str(sample.__file__)).read_text())
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names) == packages


async def test_the_client_lists_the_kinds_of_a_namespace():
    dream = {"name": "dream", "description": "What the user dreams of", "icon": "🌙", "memories": 2}
    server = Server(httpx.Response(200, json={"kinds": [dream], "open": True}))
    async with server.client() as client:
        assert await client.kinds("kitchen/ada") == (dream,)
    assert str(server.seen[0].url) == "http://memstream/v1/kinds?namespace=kitchen%2Fada"


async def test_a_memory_has_the_users_who_stated_it():
    server = Server(httpx.Response(200, json=MEMORY | {"told_by": ["ada"]}))
    async with server.client() as client:
        assert (await client.get("m1")).told_by == ("ada",)
