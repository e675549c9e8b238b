"""Streams memory events as server-sent events, read from PostgreSQL in the order of each namespace, with exact resumption.

A stream holds only its positions: a slow client causes no queue, and any replica can resume the stream.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import aclosing
from typing import Final, Protocol, TypeAlias

from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event
from starlette.types import Message, Send

from agents.api.live.change_notifier import ChangeNotifier
from agents.api.live.positions import Positions, format_positions
from schemas.codec import encode
from schemas.errors import Retryable
from sinks.memories.event_history import RecordedEvent

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 15.0  # also the maximum delay of an event whose notification was lost
PAGE_SIZE: Final = 100  # events read per query of a namespace
RETRY_MS: Final = 1_000  # the pause before a client reconnects
STALL_TIMEOUT_S: Final = 30.0  # without progress while the socket's buffers are full
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # proxies must not buffer events


class EventSource(Protocol):
    """Reads the events of namespaces (sinks.memories.event_history.EventHistory). Every method raises Retryable."""

    async def heads(self, namespaces: Collection[str]) -> dict[str, int]:
        """Returns the sequence number of each namespace's latest change; 0 before the first change."""

    async def events_after(self, namespace: str, sequence: int, limit: int) -> tuple[RecordedEvent, ...]:
        """Returns up to `limit` events of a namespace after a sequence number, in order; empty if there are none."""


Allowed: TypeAlias = Callable[[], Awaitable[bool]]  # raises Retryable


async def always_allowed() -> bool:
    return True


async def stream_events(
    events: EventSource,
    notifier: ChangeNotifier,
    positions: Positions,
    allowed: Allowed = always_allowed,
    *,
    key_id: str = "",
    heartbeat_s: float = HEARTBEAT_S,
) -> AsyncGenerator[bytes]:
    """Yields frames for the events after `positions` until the notifier closes or `allowed` returns False. It calls `allowed`
    at each notification and heartbeat. The first frame carries the start positions, so that a client that loses the
    connection early can resume."""
    with notifier.subscribe(tuple(positions), key_id) as changed:
        yield format_sse_event(id=format_positions(positions), retry=RETRY_MS)
        while not notifier.closed and await is_still_allowed(allowed):
            changed.clear()
            idle = True
            async for namespace, page in next_pages(events, positions):
                idle = False
                for frame in frames(namespace, page, positions):
                    yield frame
            if idle and not await wait_for_change(changed, heartbeat_s):
                yield KEEPALIVE_COMMENT


async def is_still_allowed(allowed: Allowed) -> bool:
    """Returns True if the check itself fails, so that an outage does not close streams."""
    try:
        return await allowed()
    except Retryable as exc:
        log.warning("checking the key of an event stream failed, trying again: %s", exc)
        return True


async def next_pages(events: EventSource, positions: Positions) -> AsyncIterator[tuple[str, Sequence[RecordedEvent]]]:
    """Yields one page of each namespace that has new events. If PostgreSQL fails, the stream stays open and retries at the
    next heartbeat."""
    for namespace in tuple(positions):
        try:
            page = await events.events_after(namespace, positions[namespace], PAGE_SIZE)
        except Retryable as exc:
            log.warning("reading events for an event stream failed, trying again: %s", exc)
            return
        if page:
            yield namespace, page


def frames(namespace: str, page: Iterable[RecordedEvent], positions: Positions) -> Iterable[bytes]:
    """Yields one frame per event and advances `positions`."""
    for recorded in page:
        positions[namespace] = recorded.sequence
        event = recorded.event
        yield format_sse_event(id=format_positions(positions), event=event.type, data_str=encode(event).decode())


async def wait_for_change(changed: asyncio.Event, timeout_s: float) -> bool:
    try:
        async with asyncio.timeout(timeout_s):
            return await changed.wait()
    except TimeoutError:
        return False


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
