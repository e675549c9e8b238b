"""Published records as a log for rebuilds: partitioned by key, in chunks, compacted on request."""

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from zlib import crc32

from msgspec import Struct

from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from streams.kafka.log import Chunk

PARTITIONS = 3


class Record(Struct, frozen=True):
    """The fields of an aiokafka record that a rebuild uses."""

    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]


class FakeLog:
    """Implements agents.rebuild.rebuilder.Log. Fails once after `breaks_after` chunks."""

    def __init__(self, published: Iterable[Outgoing], *, size: int = 3, breaks_after: int | None = None) -> None:
        self._size = size
        self._left = breaks_after
        self.read = 0
        self._partitions: dict[tuple[str, int], list[Record]] = {}
        for record in published:
            at = (record.topic, crc32(record.key or b"") % PARTITIONS)
            kept = self._partitions.setdefault(at, [])
            kept.append(Record(len(kept), record.key, record.value, record.headers))

    async def beginnings(self, topic: str) -> dict[int, int]:
        return dict.fromkeys(range(PARTITIONS), 0)

    async def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]:
        for partition, position in positions.items():
            records = self._partitions.get((topic, partition), [])
            for start in range(position, len(records), self._size):
                piece: Sequence[Record] = records[start : start + self._size]
                if self._left is not None:
                    self._left -= 1
                    if self._left < 0:
                        self._left = None
                        raise ConnectionError("the brokers went away")
                self.read += len(piece)
                yield Chunk(partition, piece, start + len(piece))


def compacted(published: Iterable[Outgoing], *, tombstones: bool) -> list[Outgoing]:
    """`memory.state` after compaction: the latest record of each key, with or without tombstones."""
    last: dict[bytes | None, Outgoing] = {}
    others = []
    for record in published:
        if record.topic != topics.STATE:
            others.append(record)
            continue
        last.pop(record.key, None)
        last[record.key] = record
    return [*(record for record in last.values() if tombstones or record.value is not None), *others]


def without_events(published: Iterable[Outgoing], before: int = 0) -> list[Outgoing]:
    """Simulates retention: removes the first `before` memory events, or all of them with 0."""
    events = [record for record in published if record.topic == topics.EVENTS]
    gone = {id(record) for record in (events[:before] if before else events)}
    return [record for record in published if id(record) not in gone]
