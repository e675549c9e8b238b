"""The topic of dead letters in memory: a log, and a publisher that appends to it."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from agents.dead_letters.writer import dead_letter
from schemas.errors import Rejected, Retryable
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from streams.kafka.log import Chunk
from tests.builders.slices import MONDAY


class LetterRecord(Struct, frozen=True, kw_only=True):
    """The used fields of an aiokafka ConsumerRecord."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp: int = 0


class FakeLetterTopic:
    """One partition, and `others` by topic. `published` are records for other topics; `read` counts the records read."""

    def __init__(self) -> None:
        self.records: list[LetterRecord] = []
        self.others: list[LetterRecord] = []
        self.published: list[Outgoing] = []
        self.first = 0
        self.read = 0
        self.down = False

    def add_letter(
        self,
        value: bytes = b"{}",
        *,
        reason: str = "invalid",
        stage: str = "windows",
        detail: str = "not so",
        topic: str = topics.MESSAGES,
    ) -> str:
        """Appends a dead letter and returns its place."""
        source = LetterRecord(topic=topic, partition=0, offset=len(self.records), key=b"c", value=value)
        self._add(dead_letter(source, stage, Rejected(reason, detail), MONDAY))
        return f"0:{len(self.records) - 1}"

    async def publish(self, records: Sequence[Outgoing]) -> None:
        for record in records:
            if record.topic == topics.DEAD_LETTERS:
                self._add(record)
            else:
                self.published.append(record)

    async def beginnings(self, topic: str) -> dict[int, int]:
        if self.down:
            raise Retryable("cannot read memory.dead-letters: the brokers are away")
        return {0: self.first}

    async def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]:
        found = self.records[positions[0] :]
        self.read += len(found)
        if found:
            yield Chunk(0, found, len(self.records))

    async def at(self, topic: str, wanted: Mapping[int, Collection[int]]) -> AsyncGenerator[Any, None]:
        if self.down:
            raise Retryable(f"cannot read {topic}: the brokers are away")
        for record in self.others:
            if record.topic == topic and record.offset in wanted.get(record.partition, ()):
                yield record
        for offset in sorted(wanted.get(0, ())):
            if topic == topics.DEAD_LETTERS and self.first <= offset < len(self.records):
                yield self.records[offset]

    def _add(self, record: Outgoing) -> None:
        offset, parts = len(self.records), {"key": record.key, "value": record.value, "headers": record.headers}
        self.records.append(LetterRecord(topic=topics.DEAD_LETTERS, partition=0, offset=offset, **parts))
