"""A publisher that keeps its records."""

import asyncio
from collections import deque
from collections.abc import Sequence

from schemas.kafka.records import Outgoing


class FakePublisher:
    """`failures` are raised by the next calls, one each, before anything is kept."""

    def __init__(self) -> None:
        self.records: list[Outgoing] = []
        self.failures: deque[Exception] = deque()

    async def publish(self, records: Sequence[Outgoing]) -> None:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.popleft()
        self.records += records

    def on(self, topic: str) -> list[Outgoing]:
        return [record for record in self.records if record.topic == topic]
