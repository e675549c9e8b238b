"""Responses without an end: a client that stops reading loses its connection."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from fastapi.sse import EventSourceResponse
from starlette.types import Message, Send

log = logging.getLogger(__name__)

STALLED_S: Final = 30.0  # in which a reader took nothing though the socket's buffers are full
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # proxies must hand each event on at once


class EventStreamResponse(EventSourceResponse):
    """Server-sent events. Closes its source however the stream ends."""

    def __init__(self, frames: AsyncGenerator[bytes], *, stalled_s: float = STALLED_S) -> None:
        super().__init__(frames, headers=HEADERS)
        self._frames = frames
        self._stalled_s = stalled_s

    async def stream_response(self, send: Send) -> None:
        async def bounded(message: Message) -> None:
            async with asyncio.timeout(self._stalled_s):
                await send(message)

        async with aclosing(self._frames):
            try:
                await super().stream_response(bounded)
            except TimeoutError:
                # An answer that was begun and not ended: the server closes the connection, and the reader comes back.
                log.info("closed an event stream: the client read nothing for %g s", self._stalled_s)
