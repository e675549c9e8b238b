"""Endless responses: closes the connection of a client that stops reading."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from fastapi.sse import EventSourceResponse
from starlette.types import Message, Send

log = logging.getLogger(__name__)

STALL_TIMEOUT_S: Final = 30.0  # without progress while the socket's buffers are full
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # proxies must not buffer events


class EventStreamResponse(EventSourceResponse):
    """A response of server-sent events. Always closes its generator. Disconnects a client that reads nothing for
    `stall_timeout_s` seconds."""

    def __init__(self, frames: AsyncGenerator[bytes], *, stall_timeout_s: float = STALL_TIMEOUT_S) -> None:
        super().__init__(frames, headers=HEADERS)
        self._frames = frames
        self._stall_timeout_s = stall_timeout_s

    async def stream_response(self, send: Send) -> None:
        async def bounded(message: Message) -> None:
            async with asyncio.timeout(self._stall_timeout_s):
                await send(message)

        async with aclosing(self._frames):
            try:
                await super().stream_response(bounded)
            except TimeoutError:
                # The response is incomplete, so the server closes the connection; the client reconnects.
                log.info("closed an event stream: the client read nothing for %g s", self._stall_timeout_s)
