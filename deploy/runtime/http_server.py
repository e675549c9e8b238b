"""Runs an ASGI app: listening, readiness, and graceful shutdown."""

import asyncio
import socket
from collections.abc import Callable
from math import ceil

import uvicorn
from fastapi import FastAPI

from schemas.errors import Misconfigured


def listener(host: str, port: int) -> socket.socket:
    """A listening socket. Raises Misconfigured if it cannot listen."""
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except OSError as exc:
        raise Misconfigured(
            f"the API cannot listen on {host}, port {port} ({exc.strerror}): set MEMSTREAM_API_HOST, MEMSTREAM_API_PORT"
        ) from exc
    # Connections inherit TCP_NODELAY. asyncio sets it only on sockets with an explicit protocol, and these have none: each
    # response would wait 40 ms for the client's delayed acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


WATCH_S = 1.0
# Seconds that an idle connection is kept. uvicorn's default is 5 s, the same as in httpx and similar clients: a request sent at
# that moment would get no response. Proxies keep connections for up to 60 s.
KEPT_S = 75


class Server(uvicorn.Server):
    """Calls back when it is serving, and when it is about to stop, as streams do not end by themselves."""

    def __init__(
        self, config: uvicorn.Config, on_started: Callable[[], object], on_stopping: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self._on_started = on_started
        self._on_stopping = on_stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stopping()
        await super().shutdown(sockets)


async def run(
    app: FastAPI,
    listening: socket.socket,
    stop_s: float,
    stop: asyncio.Event,
    watch: Callable[[], object],
    on_ready: Callable[[str], object],
    on_stopping: Callable[[], object],
) -> None:
    """Serves until `stop` is set, a signal comes, or `watch`, which is called regularly, raises; that error ends the
    process.

    uvicorn handles SIGTERM and SIGINT while it runs: it finishes requests within `stop_s` seconds and passes the signal on.
    """
    server = Server(configured(app, stop_s), lambda: on_ready(address(listening)), on_stopping)
    running = asyncio.create_task(server.serve(sockets=[listening]), name="API")
    stopping = asyncio.create_task(stop.wait())
    try:
        while not running.done() and not stopping.done():
            await asyncio.wait([running, stopping], timeout=WATCH_S, return_when=asyncio.FIRST_COMPLETED)
            watch()
    finally:
        server.should_exit = True
        stopping.cancel()
        await running


def configured(app: FastAPI, stop_s: float) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=KEPT_S,
        timeout_graceful_shutdown=ceil(stop_s),
    )


def address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{bracketed(host)}:{port}"


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
