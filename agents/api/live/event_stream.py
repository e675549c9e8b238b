"""Memory events as server-sent events, read from PostgreSQL in the order of each namespace, with exact resumption.

A stream keeps only its positions: a slow reader causes no queue, and any replica can continue the stream.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from typing import Final, Protocol, TypeAlias

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from agents.api.live.change_notifier import ChangeNotifier
from agents.api.live.positions import Positions, format_positions
from schemas.codec import encode
from schemas.errors import Retryable
from sinks.memories.event_history import RecordedEvent

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 15.0  # also the greatest delay of an event without a notification
PAGE: Final = 100  # changes read at a time of a namespace
RETRY_MS: Final = 1_000  # the pause before a client reconnects


class EventSource(Protocol):
    """The events of namespaces (sinks.memories.event_history.EventHistory, or a fake). Every method raises Retryable."""

    async def heads(self, namespaces: Collection[str]) -> dict[str, int]:
        """The sequence of each namespace's latest change; 0 before the first."""

    async def events_after(self, namespace: str, sequence: int, limit: int) -> tuple[RecordedEvent, ...]:
        """The namespace's events after a sequence, in order; empty at the end."""


Allowed: TypeAlias = Callable[[], Awaitable[bool]]  # raises Retryable


async def always() -> bool:
    return True


async def stream_events(
    events: EventSource,
    notifier: ChangeNotifier,
    places: Positions,
    allowed: Allowed = always,
    *,
    key_id: str = "",
    heartbeat_s: float = HEARTBEAT_S,
) -> AsyncGenerator[bytes]:
    """Streams events after the positions until the notifier closes or `allowed` returns False. It checks `allowed` at each
    notification and heartbeat. The first frame has the positions themselves, so that a client that loses the connection early
    can resume."""
    with notifier.subscribe(tuple(places), key_id) as changed:
        yield format_sse_event(id=format_positions(places), retry=RETRY_MS)
        while not notifier.closed and await is_still_allowed(allowed):
            changed.clear()
            quiet = True
            async for namespace, page in next_pages(events, places):
                quiet = False
                for frame in frames(namespace, page, places):
                    yield frame
            if quiet and not await wait_for_change(changed, heartbeat_s):
                yield KEEPALIVE_COMMENT


async def is_still_allowed(allowed: Allowed) -> bool:
    """Keeps a stream open while the check itself fails."""
    try:
        return await allowed()
    except Retryable as exc:
        log.warning("cannot check the key of an event stream: %s", exc)
        return True


async def next_pages(told: EventSource, places: Positions) -> AsyncIterator[tuple[str, Sequence[RecordedEvent]]]:
    """Yields one page of each namespace with new events. If PostgreSQL fails, the stream stays open and tries again at the next
    heartbeat."""
    for namespace in tuple(places):
        try:
            page = await told.events_after(namespace, places[namespace], PAGE)
        except Retryable as exc:
            log.warning("an event stream waits for PostgreSQL: %s", exc)
            return
        if page:
            yield namespace, page


def frames(namespace: str, page: Iterable[RecordedEvent], places: Positions) -> Iterable[bytes]:
    """One frame an event; advances the positions."""
    for happening in page:
        places[namespace] = happening.sequence
        event = happening.event
        yield format_sse_event(id=format_positions(places), event=event.type, data_str=encode(event).decode())


async def wait_for_change(changed: asyncio.Event, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            return await changed.wait()
    except TimeoutError:
        return False
