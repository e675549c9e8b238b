"""Reading topics from positions to where they end now, in pieces: without a group, committed records only."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from msgspec import Struct

from schemas.errors import Misconfigured, Retryable
from streams.kafka.topics import TopicSpec, partition_counts

AT_ONCE = 1_000  # records


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

    @asynccontextmanager
    async def _reading(self, topic: str) -> AsyncIterator[AIOKafkaConsumer]:
        options = {"enable_auto_commit": False, "isolation_level": "read_committed"}
        consumer = AIOKafkaConsumer(**self._client, **options, max_partition_fetch_bytes=self._most_bytes)
        try:
            await consumer.start()
            yield consumer
        except (KafkaError, OSError) as exc:
            raise Retryable(f"cannot read {topic}: {exc!r}") from exc
        finally:
            await consumer.stop()


async def partitions_of(client: dict[str, Any], topic: str) -> list[TopicPartition]:
    wanted = TopicSpec(topic, partitions=0, retention_days=None, max_message_bytes=0)
    count = (await partition_counts(client, [wanted]))[topic]
    if not count:
        raise Misconfigured(f"topic {topic} does not exist: is MEMSTREAM_TOPIC_PREFIX right?")
    return [TopicPartition(topic, number) for number in range(count)]
