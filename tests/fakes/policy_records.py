"""The topic of policies in a list, with published records."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from schemas.errors import Retryable
from schemas.kafka.records import Outgoing


class PolicyRecord(NamedTuple):
    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None


class FakePolicyRecords:
    """`down`: reading and writing fail."""

    def __init__(self) -> None:
        self.records: list[PolicyRecord] = []
        self.down = False
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator["FakePolicyRecords"]:
        yield self

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        async with self._lock:
            yield

    async def to_end(self) -> list[PolicyRecord]:
        self._check()
        return list(self.records)

    async def publish(self, records: Sequence[Outgoing]) -> None:
        self._check()
        for each in records:
            self.records.append(PolicyRecord(each.topic, 0, len(self.records), each.key, each.value))

    def _check(self) -> None:
        if self.down:
            raise Retryable("cannot reach the brokers")
