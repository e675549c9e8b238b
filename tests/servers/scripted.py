"""An HTTP server on loopback that answers by a script; the base of the local model servers."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from aiohttp import web

# The Messages API's limit of a request body, in bytes.
LARGEST = 32 * 1024 * 1024
UNSCRIPTED = "rules"


class ScriptedServer:
    """`async with ... as server:`; it listens at `server.url`, by default on a free port.

    `script` queues one step per request. With an empty queue, `choose` (if set) selects a step by the request's body;
    otherwise the rules answer. `seen` has the bodies of the model requests.
    """

    def __init__(self, port: int = 0) -> None:
        self.seen: list[dict[str, Any]] = []
        self.choose: Callable[[dict[str, Any]], str] | None = None
        self._script: deque[str] = deque()
        self._port = port
        self._closing = asyncio.Event()
        self._let_go = asyncio.Event()
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def script(self, *steps: str) -> None:
        self._script.extend(steps)

    def routes(self) -> Iterable[web.RouteDef]:
        raise NotImplementedError

    def step(self, body: dict[str, Any]) -> str:
        """The step for this request."""
        if self._script:
            return self._script.popleft()
        return self.choose(body) if self.choose else UNSCRIPTED

    async def between(self, step: str) -> web.Response | None:
        """Responses of any server or proxy: `status:` and a bare status, `page` (HTML), `slow` (nothing until the server
        stops), `held` (the answer once the test calls `let_go`), `late:` and the seconds until the answer. None: answer
        normally."""
        if step.startswith("status:"):
            return web.Response(status=int(step.removeprefix("status:")))
        if step == "page":
            return web.Response(text="<html>Welcome to the router</html>", content_type="text/html")
        if step == "slow":
            await self.closing()
        if step == "held":
            await self._let_go.wait()
        if step.startswith("late:"):
            await asyncio.sleep(float(step.removeprefix("late:")))
        return None

    def let_go(self) -> None:
        """Releases held answers, on the server's loop."""
        self._let_go.set()

    async def closing(self) -> None:
        """Waits until the server is stopped."""
        await self._closing.wait()

    async def start(self) -> None:
        app = web.Application(client_max_size=LARGEST)
        app.router.add_routes(self.routes())
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        self._closing.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


Server = TypeVar("Server", bound=ScriptedServer)


@contextmanager
def in_a_thread(server: Server) -> Iterator[Server]:
    """The server on its own event loop, for worker processes in several tests."""
    ready, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        assert ready.wait(10), "the server did not start within 10 s"
        yield server
    finally:
        stop.set()
        thread.join(10)


async def cut_off(request: web.Request, answer: web.Response) -> web.StreamResponse:
    """Sends half of the answer, then resets the connection."""
    body = await begun(request, answer)
    transport = request.transport
    assert transport is not None, "the client left before its answer could be cut off"
    transport.abort()
    return body


async def begun(request: web.Request, answer: web.Response) -> web.StreamResponse:
    """Sends the headers and half of the body."""
    assert isinstance(answer.body, bytes)
    headers = {**answer.headers, "Content-Length": str(len(answer.body))}
    body = web.StreamResponse(status=answer.status, headers=headers)
    await body.prepare(request)
    await body.write(answer.body[: len(answer.body) // 2])
    return body
