"""The changelog of a table on Kafka: one transactional producer per partition writes it, recovery reads it by position.

A checkpoint is one transaction: changelog rows, effects and source offsets become visible together or not at all. The
`transactional.id` belongs to the partition, so the first call of a new owner makes the broker refuse all later writes of a
stalled old owner (Kafka's own fencing; an epoch in memory cannot reach a stopped process).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import (
    InvalidProducerEpoch,
    KafkaError,
    MessageSizeTooLargeError,
    ProducerFenced,
    TopicAuthorizationFailedError,
)

from schemas.errors import MemstreamError, Retryable
from schemas.kafka.records import Outgoing
from streams.delivery import cancellation
from streams.delivery.ledger import Checkpoint
from streams.delivery.store import Rows
from streams.kafka.producers import stop_within

log = logging.getLogger(__name__)

DISCARDED_WITHIN_S = 2.0  # delays a rebalance, after the closing phase

# Retries do not help: these errors stop the worker.
UNSENDABLE = (MessageSizeTooLargeError, TopicAuthorizationFailedError)

Follow = Callable[[int, int, int], int]  # (partition, beginning, end) -> offset to read from
Restore = Callable[[int, Rows, int], None]  # (partition, rows, offset after them)


class Fenced(MemstreamError):
    """Another worker owns the partition: nothing may be written for it any more."""


class Changelog(Protocol):
    """Stores the checkpoints of a table, and recovers it."""

    async def open(self, partitions: Iterable[int]) -> None:
        """Takes over the partitions: from now on no checkpoint of another owner arrives. Raises Retryable."""

    async def commit(self, partition: int, checkpoint: Checkpoint) -> int:
        """Commits a checkpoint and returns the changelog offset after it. Raises Fenced when another worker owns the
        partition, and Retryable when the result is unknown: then begin a new epoch, which opens and reads again. Taking
        the partition over without reading would overwrite the changes of a new owner."""

    async def source(self) -> str:
        """An id of the changelog: rows of different sources must not be mixed. Raises Retryable."""

    async def read(self, partitions: Iterable[int], follow: Follow, restore: Restore) -> None:
        """Asks `follow` where to read each partition from, then passes its rows to `restore` up to the end, in order. Raises
        Retryable."""

    async def close(self) -> None:
        """Releases all partitions; aborts an open transaction."""


class KafkaChangelog:
    """`topic` is the physical changelog topic; `physical` converts logical topic names to physical ones.

    `client` has aiokafka's connection settings, `group` is the consumer group whose offsets the transactions carry.
    """

    def __init__(
        self,
        client: dict[str, Any],
        group: str,
        topic: str,
        physical: Callable[[str], str],
        *,
        timeout_s: float = 30.0,
        max_request_bytes: int = 4_194_304,
    ) -> None:
        self._client = client
        self._group = group
        self._topic = topic
        self._physical = physical
        self._timeout_s = timeout_s
        self._max_request_bytes = max_request_bytes
        self._producers: dict[int, AIOKafkaProducer] = {}

    async def open(self, partitions: Iterable[int]) -> None:
        await self.close()
        taking_over = [asyncio.create_task(self._take_over(partition)) for partition in partitions]
        try:
            await asyncio.gather(*taking_over)
        except BaseException:
            # A task that continues in the background would fence the producer of the next attempt.
            for task in taking_over:
                task.cancel()
            await asyncio.gather(*taking_over, return_exceptions=True)
            raise

    async def _take_over(self, partition: int) -> None:
        """start() is InitProducerId: the broker aborts the old owner's open transaction and fences the old owner."""
        producer = AIOKafkaProducer(
            **self._client,
            transactional_id=f"{self._group}-{partition}",
            transaction_timeout_ms=int(self._timeout_s * 1000),
            request_timeout_ms=int(self._timeout_s * 1000),
            max_request_size=self._max_request_bytes,
            max_batch_size=262_144,
            linger_ms=0,
        )
        self._producers[partition] = producer  # stored before it is started, so that an interruption can close it
        try:
            async with asyncio.timeout(self._timeout_s):
                await producer.start()
        except (KafkaError, TimeoutError, OSError) as exc:
            await self._drop(partition, producer)
            raise Retryable(f"cannot take over partition {partition} of {self._topic}: {exc!r}") from exc

    async def commit(self, partition: int, checkpoint: Checkpoint) -> int:
        producer = self._producers[partition]
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._transaction(producer, partition, checkpoint)
        except (ProducerFenced, InvalidProducerEpoch) as exc:
            raise Fenced(f"partition {partition} of {self._topic} has a new owner") from exc
        except UNSENDABLE:
            raise
        except (KafkaError, TimeoutError, OSError) as exc:
            raise Retryable(f"checkpoint of partition {partition} of {self._topic} failed: {exc!r}") from exc

    async def _transaction(self, producer: AIOKafkaProducer, partition: int, checkpoint: Checkpoint) -> int:
        await producer.begin_transaction()
        rows = await self._send_rows(producer, partition, checkpoint.rows)
        effects = [await self._send(producer, effect) for effect in checkpoint.effects]
        arrived = await asyncio.gather(*(arriving for arriving, _ in rows), *effects)
        offsets = {TopicPartition(topic, partition): end for topic, end in checkpoint.offsets().items()}
        await producer.send_offsets_to_transaction(offsets, self._group)
        await producer.commit_transaction()
        # The broker returns the offset of a batch's first record.
        return max((metadata.offset + count for metadata, (_, count) in zip(arrived, rows, strict=False)), default=0)

    async def _send_rows(self, producer: AIOKafkaProducer, partition: int, rows: Rows) -> list[tuple[Any, int]]:
        """Sends whole record batches and returns the number of records: aiokafka's path for single records costs ten times
        as much."""
        sent = []
        batch = producer.create_batch()
        for key, value in rows.items():
            while batch.append(key=key, value=value, timestamp=None) is None:  # full
                sent.append(await self._send_batch(producer, partition, batch))
                batch = producer.create_batch()
        if batch.record_count():
            sent.append(await self._send_batch(producer, partition, batch))
        return sent

    async def _send_batch(self, producer: AIOKafkaProducer, partition: int, batch: Any) -> tuple[Any, int]:
        batch.close()
        return await producer.send_batch(batch, self._topic, partition=partition), batch.record_count()

    async def _send(self, producer: AIOKafkaProducer, effect: Outgoing) -> Any:
        return await producer.send(
            self._physical(effect.topic),
            key=effect.key,
            value=effect.value,
            partition=effect.partition,
            headers=list(effect.headers),
        )

    async def source(self) -> str:
        """Includes the cluster id: offsets of another cluster mean nothing."""
        admin = AIOKafkaAdminClient(**self._client, request_timeout_ms=int(self._timeout_s * 1000))
        try:
            async with asyncio.timeout(self._timeout_s):
                await admin.start()
                cluster = await admin.describe_cluster()
        except (KafkaError, TimeoutError, OSError) as exc:
            raise Retryable(f"cannot read the id of the Kafka cluster: {exc!r}") from exc
        finally:
            await admin.close()
        return f"{cluster['cluster_id']}/{self._topic}"

    async def read(self, partitions: Iterable[int], follow: Follow, restore: Restore) -> None:
        consumer = AIOKafkaConsumer(
            **self._client,
            group_id=None,
            enable_auto_commit=False,
            isolation_level="read_committed",
            auto_offset_reset="none",  # raises if records were deleted meanwhile; the next attempt asks for the beginning again
            max_partition_fetch_bytes=self._max_request_bytes,
        )
        try:
            async with asyncio.timeout(self._timeout_s):
                await consumer.start()
            await self._read_to_end(consumer, [TopicPartition(self._topic, p) for p in partitions], follow, restore)
        except (KafkaError, TimeoutError, OSError) as exc:
            raise Retryable(f"cannot read {self._topic}: {exc!r}") from exc
        finally:
            await _stop_consumer(consumer)

    async def _read_to_end(
        self, consumer: AIOKafkaConsumer, tps: list[TopicPartition], follow: Follow, restore: Restore
    ) -> None:
        """Ends by position: the last offset of a changelog is a transaction marker, which consumers never deliver."""
        consumer.assign(tps)
        async with asyncio.timeout(self._timeout_s):
            ends = await consumer.end_offsets(tps)
            beginnings = await consumer.beginning_offsets(tps)
        positions = {tp: follow(tp.partition, beginnings[tp], ends[tp]) for tp in tps}
        for tp, position in positions.items():
            consumer.seek(tp, position)
        while behind := [tp for tp in tps if positions[tp] < ends[tp]]:
            async with asyncio.timeout(self._timeout_s):
                fetched = await _read_next(consumer, behind, positions)
            for tp in behind:
                rows = {record.key: record.value for record in fetched.get(tp, ())}
                restore(tp.partition, rows, positions[tp])

    async def _drop(self, partition: int, producer: AIOKafkaProducer) -> None:
        if self._producers.get(partition) is producer:
            del self._producers[partition]
        await _discard(producer)

    async def close(self) -> None:
        producers, self._producers = self._producers, {}
        await asyncio.gather(*(_discard(producer) for producer in producers.values()))


async def _read_next(
    consumer: AIOKafkaConsumer, behind: list[TopicPartition], positions: dict[TopicPartition, int]
) -> dict[TopicPartition, Any]:
    """Reads the next rows and advances `positions`. Never returns while nothing comes, as with a client that has lost a
    broker: the caller sets a time limit."""
    before = dict(positions)
    while True:
        fetched: dict[TopicPartition, Any] = await consumer.getmany(*behind, timeout_ms=200)
        for tp in behind:
            positions[tp] = await consumer.position(tp)
        if positions != before:
            return fetched


async def _stop_consumer(consumer: AIOKafkaConsumer) -> None:
    """Stops a reader. aiokafka's stop() ends before the sockets are closed when a fetch was created and has not begun."""
    try:
        await consumer.stop()
    except asyncio.CancelledError:
        await consumer._client.close()
        if cancellation.is_cancelling():
            raise


async def _discard(producer: AIOKafkaProducer) -> None:
    """Stops a producer with an open or fenced transaction, and ignores the transaction's errors."""
    if (problem := await stop_within(producer, DISCARDED_WITHIN_S)) is not None:
        log.debug("a producer did not stop cleanly: %r", problem)
