"""Serves an ASGI app on a local port, for tests that need a real connection."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import Any

import uvicorn


class SignallessServer(uvicorn.Server):
    """Leaves the signals of the process alone."""

    def capture_signals(self) -> Any:
        return nullcontext()


@asynccontextmanager
async def serve_app(
    app: Any, on_stop: Callable[[], object] = lambda: None, within_s: float = 10.0
) -> AsyncIterator[str]:
    """The app's address. `on_stop` is called before the server is stopped, which must then end in time."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = SignallessServer(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=None))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        on_stop()
        server.should_exit = True
        async with asyncio.timeout(within_s):
            await serving
