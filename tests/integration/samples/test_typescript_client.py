"""The TypeScript client, built from the locked packages, runs in Node against the API."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from schemas.codec import decode
from schemas.conversations.user_settings import User
from schemas.conversations.window_choices import WindowChoice
from schemas.conversations.windows import Restorable
from schemas.documents.generate import TARGET
from schemas.kafka import topics
from schemas.windows.window_controls import WindowControl
from tests.api import Api, a_memory
from tests.deployment import eventually
from tests.fakes.windows import a_state
from tests.servers.asgi import serve_app
from tests.servers.scripted import ScriptedServer

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(shutil.which("node") is None or shutil.which("npm") is None, reason="Node is not installed"),
]

CLIENT = Path(__file__).parents[3] / "deploy" / "samples" / "typescript"
SCENES = Path(__file__).parent / "use_client.mjs"
REQUESTS = SCENES.with_name("requests.ts")
SENTENCE = "User keeps bees."


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Typed by the document of the API as it is now: a call that it does not know does not build."""
    made = tmp_path_factory.mktemp("typescript")
    for name in ("package.json", "package-lock.json", "tsconfig.json"):
        shutil.copy(CLIENT / name, made)
    (made / "src").mkdir()
    for source in (CLIENT / "src").glob("*.ts"):
        if source.name != "api.ts":
            shutil.copy(source, made / "src")
    shutil.copy(REQUESTS, made / "src")
    npm(made, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    npm(made, "run", "generate")
    npm(made, "run", "build")
    return made / "dist" / "memstream.js"


def npm(directory: Path, *words: str) -> None:
    environment = {**os.environ, "MEMSTREAM_OPENAPI": str(TARGET / "openapi.json")}
    done = subprocess.run(
        ["npm", *words], cwd=directory, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


async def seen(client: Path, url: str, key: str, scene: str) -> list[Any]:
    """Returns the output of the scene."""
    command = ("node", str(SCENES), client.as_uri(), url, key, scene)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        output, wrong = await process.communicate()
    assert (process.returncode, wrong) == (0, b"")
    return [json.loads(line) for line in output.splitlines()]


def once(looked: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def look() -> Any:
        return looked()

    return look


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
async def url(api: Api) -> AsyncIterator[str]:
    async with serve_app(api.app, api.ports.change_notifier.close) as url:
        yield url


def test_typed_requests_need_required_fields_alone(client: Path):
    assert client.with_name("requests.js").exists()  # the build of the client compiled them


async def test_the_client_creates_reads_updates_and_deletes_a_memory(client: Path, api: Api, url: str):
    assert await seen(client, url, api.keys.add(write="app/*"), "changes") == [
        ["accepted", "created", "app/ada"],
        SENTENCE,
        "updated",
        "deleted",
        [404, "not-found", False],
    ]


async def test_the_client_waits_for_a_slow_change(client: Path, api: Api, url: str):
    api.curation.late = True

    async def carry_out() -> None:
        await eventually(once(lambda: api.curation.seen), "the change is asked for")
        api.curation.late = False
        await api.curation.send_and_wait(api.curation.seen[0])

    output, _ = await asyncio.gather(seen(client, url, api.keys.add(write="app/*"), "late"), carry_out())
    assert output == ["pending", "created"]


async def test_the_client_parses_searches_and_contexts(client: Path, api: Api, url: str):
    known = a_memory(text=SENTENCE)
    api.remembered.known["m1"] = known
    api.memories.put(known)
    api.archive.say("c1", ("user", SENTENCE), app_id="app", user_id="ada")
    question = api.said.say("Where are the bees?", at=api.now, speaker="bob")
    reply = api.said.say("Behind the barn.", at=api.now, speaker="ada")
    api.said.neighbours[reply.passage_id] = (question,)
    assert await seen(client, url, api.keys.add(read="app/*"), "found") == [
        [["memory", SENTENCE]],
        [["said", "ada", "Behind the barn.", "Where are the bees?", ["talk-1", "talk-2"]]],
        [True, True],
        [SENTENCE],
    ]


async def test_the_client_marks_a_message(client: Path, api: Api, url: str):
    api.archive.say("c1", ("user", SENTENCE), app_id="app", user_id="ada")
    await api.windows.project([a_state("c1")])
    assert await seen(client, url, api.keys.add(write="app/*"), "marks") == [[404, "not-found", False]]
    (record,) = api.published.on(topics.WINDOW_CONTROL)
    assert b'"importance":"pinned"' in record.value


async def test_the_client_flushes_prunes_clears_and_restores_a_context(client: Path, api: Api, url: str):
    api.archive.say("c1", ("user", SENTENCE), app_id="app", user_id="ada")
    await api.windows.project([a_state("c1", restorable=Restorable(api.now.timestamp() + 60, "manual", 3))])
    assert await seen(client, url, api.keys.add(write="app/*"), "controls") == [[404, "not-found", False]]
    sent = [decode(each.value, WindowControl).kind for each in api.published.on(topics.WINDOW_CONTROL)]
    assert sent == ["flush", "prune", "clear", "restore"]


async def test_the_client_stores_user_settings(client: Path, api: Api, url: str):
    assert await seen(client, url, api.keys.add(write="app/*"), "choices") == [[403, "forbidden", False]]
    assert await api.user_settings.chosen_for(User(user_id="ada", app_id="app")) == WindowChoice(max_messages=30)


async def test_the_client_reports_rejected_requests_as_problems_with_their_code(client: Path, api: Api, url: str):
    assert await seen(client, url, api.keys.add(write="app/*"), "refused") == [
        [404, "not-found", False],
        [403, "forbidden", False],
        [422, "invalid", False],
    ]


async def test_the_client_follows_live_events(client: Path, api: Api, url: str):
    api.event_history.at["app/ada"] = 2
    following = asyncio.create_task(seen(client, url, api.keys.add(read="app/*"), "events"))
    await eventually(once(lambda: api.event_history.calls or following.done()), "the stream is asked for")
    api.event_history.at["app/ada"] = 4
    api.ports.change_notifier.notify("app/ada")
    output = await following
    assert [sequence for *_, sequence in output] == [1, 2, 3, 4]
    assert {tuple(rest) for *rest, _ in output} == {(True, "memstream.namespace.erased", "app/ada")}


class Restless(ScriptedServer):
    """Tells one event a connection, in pieces, and keeps the positions from which clients resume."""

    def __init__(self) -> None:
        super().__init__()
        self.positions: list[str | None] = []

    def routes(self) -> Iterable[web.RouteDef]:
        return [web.get("/v1/events", self._tell)]

    async def _tell(self, request: web.Request) -> web.StreamResponse:
        self.positions.append(request.headers.get("Last-Event-ID"))
        number = len(self.positions)
        if number == 2:
            return web.Response(status=503)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        data = json.dumps({"type": "t", "data": {"namespace": "app/ada", "sequence": number}})
        for piece in (f"id: {number}\nda", f"ta: {data}\n", "\n: alive\n\n"):
            await stream.write(piece.encode())
        return stream


async def test_the_client_reconnects_after_the_last_event(client: Path):
    async with Restless() as server:
        output = await seen(client, server.url, "", "events")
        assert [sequence for *_, sequence in output] == [1, 3, 4, 5]
        assert server.positions == [None, "1", "1", "3", "4"]


class Busy(ScriptedServer):
    """Keeps the keys of the changes that it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[str] = []

    def routes(self) -> Iterable[web.RouteDef]:
        return [web.post("/v1/memories", self._make)]

    async def _make(self, request: web.Request) -> web.Response:
        self.keys.append(request.headers["Idempotency-Key"])
        early = await self.between(self.step({}))
        return early or web.json_response({"command_id": "c", "namespace": "app/ada", "status": "accepted"}, status=201)


async def test_the_client_retries_a_busy_server_with_the_same_idempotency_key(client: Path):
    async with Busy() as server:
        server.script("status:503", "status:429")
        assert await seen(client, server.url, "", "once") == ["none"]
        assert len(server.keys) == 3
        assert len(set(server.keys)) == 1
        server.script(*["status:503"] * 5)
        assert await seen(client, server.url, "", "once") == [[503, "unknown", True]]
