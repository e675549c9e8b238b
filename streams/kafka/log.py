"""Reading topics from positions to where they end now, in pieces: without a group, committed records only."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from msgspec import Struct

from schemas.errors import Misconfigured, Retryable
from streams.kafka.topics import TopicSpec, partition_counts

AT_ONCE = 1_000  # records
READ_WITHIN_S: Final = 30.0  # the next records of a partition
UNKNOWN_TOPIC_MS: Final = 10  # aiokafka sleeps so long once it has asked for a topic that it has not met
SOON_MS: Final = 20  # the broker waits so long for more: what is read ends, and a marker of a transaction may end it


class Chunk(Struct, frozen=True):
    """Some records of a partition, in order (aiokafka ConsumerRecords), and the offset to read on from."""

    partition: int
    records: Sequence[Any]
    position: int


Reading = Callable[[Sequence[Any]], Awaitable[Sequence[Any]]]


async def as_they_are(records: Sequence[Any]) -> Sequence[Any]:
    return records


class Log:
    """The topics of a cluster by their physical names. Every method raises Retryable, and Misconfigured for a missing topic.

    `reading` makes of records what is read of them.
    """

    def __init__(self, client: dict[str, Any], most_bytes: int = 4_194_304, reading: Reading = as_they_are) -> None:
        self._client = client
        self._most_bytes = most_bytes
        self._reading_of = reading

    async def beginnings(self, topic: str) -> dict[int, int]:
        """The first offset of each partition."""
        tps = await partitions_of(self._client, topic)
        async with self._reading(topic) as consumer:
            return {tp.partition: offset for tp, offset in (await consumer.beginning_offsets(tps)).items()}

    async def since(self, topic: str, at: datetime) -> dict[int, int]:
        """The first offset of each partition that the broker dates from a moment on; partitions without any are missing."""
        tps = await partitions_of(self._client, topic)
        async with self._reading(topic) as consumer:
            found = await consumer.offsets_for_times({tp: int(at.timestamp() * 1_000) for tp in tps})
        return {tp.partition: first.offset for tp, first in found.items() if first is not None}

    async def chunks(self, topic: str, positions: Mapping[int, int]) -> AsyncGenerator[Chunk, None]:
        """The partitions from these positions to where they end when reading begins. What is gone already is passed over."""
        async with self._reading(topic) as consumer:
            tps = [TopicPartition(topic, partition) for partition in positions]
            ends, starts = await consumer.end_offsets(tps), await consumer.beginning_offsets(tps)
            consumer.assign(tps)
            for tp in tps:
                consumer.seek(tp, max(positions[tp.partition], starts[tp]))
            while left := [tp for tp in tps if await consumer.position(tp) < ends[tp]]:
                fetched = await consumer.getmany(*left, timeout_ms=500, max_records=AT_ONCE)
                for tp, records in fetched.items():
                    yield Chunk(tp.partition, await self._reading_of(records), await consumer.position(tp))

    async def at(self, topic: str, wanted: Mapping[int, Collection[int]]) -> AsyncGenerator[Any, None]:
        """The records at these offsets by partition, as far as they are still there; one partition after the other, in order."""
        async with self._reading(topic) as consumer:
            for partition, offsets in wanted.items():
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
        consumer = AIOKafkaConsumer(**self._client, **options, max_partition_fetch_bytes=self._most_bytes)
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
    kept = [offset for offset in sorted(offsets) if beginning <= offset < end]
    if not kept:
        return
    consumer.seek(tp, kept[0])
    while (position := await consumer.position(tp)) <= kept[-1] and position < end:
        async with asyncio.timeout(READ_WITHIN_S):
            fetched = await consumer.getmany(tp, timeout_ms=1_000)
        for record in fetched.get(tp, ()):
            if record.offset in offsets:
                yield record


async def partitions_of(client: dict[str, Any], topic: str) -> list[TopicPartition]:
    wanted = TopicSpec(topic, partitions=0, retention_days=None, max_message_bytes=0)
    count = (await partition_counts(client, [wanted]))[topic]
    if not count:
        raise Misconfigured(f"topic {topic} does not exist: is MEMSTREAM_TOPIC_PREFIX right?")
    return [TopicPartition(topic, number) for number in range(count)]
