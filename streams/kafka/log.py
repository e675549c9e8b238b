"""Reads topics in chunks, from given positions to their current end: without a group, committed records only."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from msgspec import Struct

from schemas.errors import Misconfigured, Retryable
from streams.kafka.lenient_parser import getmany
from streams.kafka.topics import TopicSpec, partition_counts

MAX_CHUNK_RECORDS = 1_000
READ_WITHIN_S: Final = 30.0  # the next records of a partition
UNKNOWN_TOPIC_MS: Final = 10  # aiokafka sleeps this long after a request for an unknown topic
# The broker waits this long for more records. The last offset may be a transaction marker, which is never delivered.
SOON_MS: Final = 20


class Chunk(Struct, frozen=True):
    """Records of a partition, in order (aiokafka ConsumerRecords), and the next offset to read."""

    partition: int
    records: Sequence[Any]
    position: int


Reading = Callable[[Sequence[Any]], Awaitable[Sequence[Any]]]


async def as_they_are(records: Sequence[Any]) -> Sequence[Any]:
    return records


class Log:
    """Reads the topics of a cluster by physical name. Every method raises Retryable, and Misconfigured for a missing topic.

    `reading` converts records before they are returned, such as from a registry's wire format.
    """

    def __init__(self, client: dict[str, Any], max_bytes: int = 4_194_304, reading: Reading = as_they_are) -> None:
        self._client = client
        self._max_bytes = max_bytes
        self._reading_of = reading

    async def beginnings(self, topic: str) -> dict[int, int]:
        """The first offset of each partition."""
        tps = await partitions_of(self._client, topic)
        async with self._reading(topic) as consumer:
            return {tp.partition: offset for tp, offset in (await consumer.beginning_offsets(tps)).items()}

    async def since(self, topic: str, at: datetime) -> dict[int, int]:
        """The first offset of each partition with a timestamp at or after a moment; partitions without one are missing."""
        tps = await partitions_of(self._client, topic)
        async with self._reading(topic) as consumer:
            found = await consumer.offsets_for_times({tp: int(at.timestamp() * 1_000) for tp in tps})
        return {tp.partition: first.offset for tp, first in found.items() if first is not None}

    async def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]:
        """Reads partitions from these positions to the ends at the time of the call. Deleted records are skipped."""
        async with self._reading(topic) as consumer:
            tps = [TopicPartition(topic, partition) for partition in positions]
            ends, starts = await consumer.end_offsets(tps), await consumer.beginning_offsets(tps)
            consumer.assign(tps)
            for tp in tps:
                consumer.seek(tp, max(positions[tp.partition], starts[tp]))
            while left := [tp for tp in tps if await consumer.position(tp) < ends[tp]]:
                fetched = await getmany(consumer, *left, timeout_ms=500, max_records=MAX_CHUNK_RECORDS)
                for tp, records in fetched.items():
                    yield Chunk(tp.partition, await self._reading_of(records), await consumer.position(tp))

    async def at(self, topic: str, offsets_by_partition: Mapping[int, Collection[int]]) -> AsyncGenerator[Any, None]:
        """The records at these offsets, by partition, that still exist; one partition after the other, in order."""
        async with self._reading(topic) as consumer:
            for partition, offsets in offsets_by_partition.items():
                async for record in among(consumer, TopicPartition(topic, partition), set(offsets)):
                    yield record

    @asynccontextmanager
    async def _reading(self, topic: str) -> AsyncIterator[AIOKafkaConsumer]:
        options = {
            "enable_auto_commit": False,
            "isolation_level": "read_committed",
            "fetch_max_wait_ms": SOON_MS,
            "retry_backoff_ms": UNKNOWN_TOPIC_MS,
        }
        consumer = AIOKafkaConsumer(**self._client, **options, max_partition_fetch_bytes=self._max_bytes)
        try:
            await consumer.start()
            yield consumer
        except (KafkaError, OSError, TimeoutError) as exc:
            raise Retryable(f"cannot read {topic}: {exc!r}") from exc
        finally:
            await consumer.stop()


async def among(consumer: AIOKafkaConsumer, tp: TopicPartition, offsets: set[int]) -> AsyncIterator[Any]:
    consumer.assign([tp])
    (beginning,) = (await consumer.beginning_offsets([tp])).values()
    (end,) = (await consumer.end_offsets([tp])).values()
    remaining = [offset for offset in sorted(offsets) if beginning <= offset < end]
    if not remaining:
        return
    consumer.seek(tp, remaining[0])
    while (position := await consumer.position(tp)) <= remaining[-1] and position < end:
        async with asyncio.timeout(READ_WITHIN_S):
            fetched = await getmany(consumer, tp, timeout_ms=1_000)
        for record in fetched.get(tp, ()):
            if record.offset in offsets:
                yield record


async def partitions_of(client: dict[str, Any], topic: str) -> list[TopicPartition]:
    spec = TopicSpec(topic, partitions=0, retention_days=None, max_message_bytes=0)
    count = (await partition_counts(client, [spec]))[topic]
    if not count:
        raise Misconfigured(f"topic {topic} does not exist: is MEMSTREAM_TOPIC_PREFIX right?")
    return [TopicPartition(topic, number) for number in range(count)]
