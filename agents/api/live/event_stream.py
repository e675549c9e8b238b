"""Memory events as a stream of server-sent events, read from PostgreSQL in each namespace's order and resumed exactly.

A stream holds a place and nothing else: no queue grows behind a slow reader, and any replica goes on where another stopped.
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

HEARTBEAT_S: Final = 15.0  # also how late an event is at most that the bell did not ring for
PAGE: Final = 100  # changes of a namespace read at a time
RETRY_MS: Final = 1_000  # after which a client comes back


class EventSource(Protocol):
    """What happened in namespaces (sinks.memories.event_history.EventHistory, or a fake). Every method raises Retryable."""

    async def heads(self, namespaces: Collection[str]) -> dict[str, int]:
        """The sequence of each namespace's latest change, 0 before the first."""

    async def events_after(self, namespace: str, sequence: int, limit: int) -> tuple[RecordedEvent, ...]:
        """What happened in a namespace behind a sequence, in order; empty at the end."""


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
    """What happens behind the places, until the bell is closed or it is not `allowed` any more, which is asked at each ring and
    heartbeat. The first frame tells the places themselves: a client that loses the connection before anything happens comes back
    to them."""
    with notifier.subscribe(tuple(places), key_id) as rung:
        yield format_sse_event(id=format_positions(places), retry=RETRY_MS)
        while not notifier.closed and await is_still_allowed(allowed):
            rung.clear()
            quiet = True
            async for namespace, page in next_pages(events, places):
                quiet = False
                for frame in frames(namespace, page, places):
                    yield frame
            if quiet and not await wait_for_change(rung, heartbeat_s):
                yield KEEPALIVE_COMMENT


async def is_still_allowed(allowed: Allowed) -> bool:
    """Who was let in stays while nobody can be asked."""
    try:
        return await allowed()
    except Retryable as exc:
        log.warning("a stream of events is not checked: %s", exc)
        return True


async def next_pages(told: EventSource, places: Positions) -> AsyncIterator[tuple[str, Sequence[RecordedEvent]]]:
    """A page of each namespace where something happened, one held at a time. While PostgreSQL is away nothing did: the stream is
    kept, and looks again at its next heartbeat."""
    for namespace in tuple(places):
        try:
            page = await told.events_after(namespace, places[namespace], PAGE)
        except Retryable as exc:
            log.warning("a stream of events waits: %s", exc)
            return
        if page:
            yield namespace, page


def frames(namespace: str, page: Iterable[RecordedEvent], places: Positions) -> Iterable[bytes]:
    """A frame an event; moves the places along with each."""
    for happening in page:
        places[namespace] = happening.sequence
        event = happening.event
        yield format_sse_event(id=format_positions(places), event=event.type, data_str=encode(event).decode())


async def wait_for_change(rung: asyncio.Event, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            return await rung.wait()
    except TimeoutError:
        return False
