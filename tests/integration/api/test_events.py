"""Server-sent events over real connections: resumption, rights, slow clients and shutdown."""

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI
from httpx_sse import EventSource, ServerSentEvent, aconnect_sse
from msgspec.structs import replace

from agents.api.live.event_stream import EventStreamResponse
from tests.api import NOON, Api
from tests.fakes.event_history import FakeEventHistory
from tests.servers.asgi import serve_app

PATH = "/v1/events"


class Replicas:
    """Two processes' worth of API over one store."""

    def __init__(self) -> None:
        self.event_history = FakeEventHistory()
        self.apis = [Api(event_history=self.event_history) for _ in range(2)]
        self.tokens = [api.keys.add(read="app/*") for api in self.apis]
        self.urls: list[str] = []

    @asynccontextmanager
    async def following(
        self, replica: int = 0, last_event_id: str | None = None, **parameters: str | list[str]
    ) -> AsyncIterator[AsyncIterator[ServerSentEvent]]:
        headers = {"Authorization": f"Bearer {self.tokens[replica]}"}
        if last_event_id is not None:
            headers["Last-Event-ID"] = last_event_id
        async with (
            httpx.AsyncClient(base_url=self.urls[replica], timeout=10) as client,
            aconnect_sse(client, "GET", PATH, params={"namespace": "app/ada"} | parameters, headers=headers) as source,
        ):
            yield self._events(source)

    async def _events(self, source: EventSource) -> AsyncIterator[ServerSentEvent]:
        source.response.raise_for_status()
        async for event in source.aiter_sse():
            yield event

    def happen(self, namespace: str = "app/ada") -> None:
        """Something, told to every replica."""
        self.event_history.at[namespace] = self.event_history.at.get(namespace, 0) + 1
        for api in self.apis:
            api.ports.change_notifier.notify(namespace)

    async def refused(self, token: str | None = None, **parameters: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token or self.tokens[0]}"} if token != "" else {}
        async with httpx.AsyncClient(base_url=self.urls[0]) as client:
            return await client.get(PATH, params={"namespace": "app/ada"} | parameters, headers=headers)


@pytest.fixture
async def replicas() -> AsyncIterator[Replicas]:
    made = Replicas()
    one, other = made.apis
    async with (
        serve_app(one.app, one.ports.change_notifier.close) as first,
        serve_app(other.app, other.ports.change_notifier.close) as second,
    ):
        made.urls = [first, second]
        yield made


def sequence(event: ServerSentEvent) -> int:
    return int(event.json()["data"]["sequence"])


async def test_events_stream_live_and_another_replica_resumes_after_the_last_event_id(replicas: Replicas) -> None:
    replicas.event_history.at["app/ada"] = 7
    async with replicas.following() as events:
        begun = await anext(events)
        assert (begun.data, begun.id) == ("", "app%2Fada=7")
        replicas.happen()
        event = await anext(events)
        assert (event.event, event.id, sequence(event)) == ("memstream.namespace.erased", "app%2Fada=8", 8)
    replicas.happen()
    replicas.happen()
    async with replicas.following(1, event.id) as events:
        await anext(events)
        assert [sequence(await anext(events)) for _ in range(2)] == [9, 10]


async def test_a_client_disconnected_before_the_first_event_resumes_without_missing_events(replicas: Replicas) -> None:
    async with replicas.following() as events:
        place = (await anext(events)).id
    replicas.happen()
    async with replicas.following(1, after=place) as events:
        await anext(events)
        assert sequence(await anext(events)) == 1


async def test_one_stream_delivers_several_namespaces_from_the_beginning_or_from_now(replicas: Replicas) -> None:
    replicas.event_history.at |= {"app/ada": 2, "app/tom": 1}
    both = {"namespace": ["app/ada", "app/tom"]}
    async with replicas.following(since="beginning", **both) as events:
        received = [await anext(events) for _ in range(4)]
    assert [event.id for event in received[1:]] == [
        *("app%2Fada=1&app%2Ftom=0", "app%2Fada=2&app%2Ftom=0", "app%2Fada=2&app%2Ftom=1")
    ]
    async with replicas.following(last_event_id="app%2Fada=1", **both) as events:
        assert (await anext(events)).id == "app%2Fada=1&app%2Ftom=1", "the one that no id tells of begins now"


async def test_a_stream_request_is_rejected_without_rights_or_with_an_invalid_position(replicas: Replicas) -> None:
    ada = replicas.apis[0].keys.add(read="app/ada")
    problems = {
        401: await replicas.refused(""),
        403: await replicas.refused(ada, namespace="app/tom"),
        422: await replicas.refused(after="yesterday"),
        409: await replicas.refused(after="app%2Fada=99"),
    }
    assert [answer.status_code for answer in problems.values()] == list(problems)
    assert all(answer.headers["content-type"] == "application/problem+json" for answer in problems.values())
    assert "read the memories again" in problems[409].json()["detail"]


async def test_a_stream_ends_when_its_key_is_revoked(replicas: Replicas) -> None:
    api = replicas.apis[0]
    async with replicas.following() as events:
        await anext(events)
        token = replicas.tokens[0]
        api.keys.by_token[token] = replace(api.keys.by_token[token], revoked_at=NOON)
        api.seconds += 60  # past what the door remembers
        replicas.happen()
        async with asyncio.timeout(10):
            assert [event async for event in events] == []


async def test_a_stopping_process_ends_its_streams_at_once_and_rejects_new_ones(replicas: Replicas) -> None:
    async with replicas.following() as events, replicas.following() as others:
        await anext(events)
        await anext(others)
        replicas.apis[0].ports.change_notifier.close()
        async with asyncio.timeout(10):
            assert [event async for event in events] == [event async for event in others] == []
    answer = await replicas.refused()
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)


async def test_a_stalled_reader_is_disconnected_and_frames_do_not_accumulate() -> None:
    made, closed = [], asyncio.Event()

    async def frames() -> AsyncGenerator[bytes]:
        try:
            while True:
                made.append(1)
                yield b"data: " + b"x" * 65_536 + b"\n\n"
        finally:
            closed.set()

    app = FastAPI()
    app.add_api_route("/", lambda: EventStreamResponse(frames(), stall_timeout_s=0.3), response_model=None)
    async with serve_app(app) as url:
        with socket.create_connection((urlsplit(url).hostname, urlsplit(url).port)) as reader:
            reader.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            async with asyncio.timeout(20):
                await closed.wait()
                assert await asyncio.to_thread(to_end, reader) > 0, "what was on its way, and then the end"
        assert len(made) * 65_536 < 32 * 1024 * 1024, "what fits the sockets' buffers"


def to_end(reader: socket.socket) -> int:
    """Bytes until the other side has closed."""
    reader.settimeout(10)
    taken = 0
    while part := reader.recv(1 << 20):
        taken += len(part)
    return taken
