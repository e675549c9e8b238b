"""Publishes conversations to Kafka in parts, so that every kill hits a system with a backlog."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from deploy.settings import Settings
from deploy.wiring import connections
from schemas.kafka.records import Outgoing
from tests.chaos.conversations import Conversation, interleaved

OPEN_AT_ONCE = 60  # interleaved conversations
AT_ONCE = 20  # events published together


class MessageFeed:
    """Publishes released events, `rate` a second."""

    def __init__(self, settings: Settings, events: list[Outgoing], rate: int) -> None:
        self._settings = settings
        self._events = events
        self._rate = rate
        self._released = 0
        self._more = asyncio.Event()

    def release(self, share: float) -> None:
        """Releases another share of all events."""
        self._released = min(len(self._events), self._released + max(1, round(share * len(self._events))))
        self._more.set()

    @property
    def exhausted(self) -> bool:
        return self._released == len(self._events)

    async def run(self) -> None:
        """Returns when everything is published."""
        sent = 0
        async with connections.kafka(self._settings) as publisher:
            while sent < len(self._events):
                if sent == self._released:
                    self._more.clear()
                    await self._more.wait()
                part = self._events[sent : min(sent + AT_ONCE, self._released)]
                await publisher.publish(part)
                sent += len(part)
                await asyncio.sleep(len(part) / self._rate)


@asynccontextmanager
async def running_feed(
    settings: Settings, said: list[Conversation], rate: int, rng: random.Random
) -> AsyncIterator[MessageFeed]:
    """A running feed; at the end of the block the rest is released and published, unless the block has failed."""
    feed = MessageFeed(settings, list(interleaved(said, OPEN_AT_ONCE, rng)), rate)
    running = asyncio.create_task(feed.run())
    try:
        yield feed
        feed.release(1.0)
        await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
