"""The changelog of a table on Kafka: one transactional producer a partition writes it, recovery reads it by position.

A checkpoint is one transaction: changelog rows, effects and source offsets become visible together or not at all. The
`transactional.id` is the partition's, so a new owner's first call makes the broker refuse whatever a stalled old owner
still tries to write (Kafka's own fencing; an epoch in our memory cannot reach a process that was stopped).
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
from streams.kafka.producers import stopped_after

log = logging.getLogger(__name__)

DISCARDED_WITHIN_S = 2.0  # a rebalance waits for it, after the closing phase

# No repetition mends these: they must stop the worker.
UNSENDABLE = (MessageSizeTooLargeError, TopicAuthorizationFailedError)

Follow = Callable[[int, int, int], int]  # (partition, beginning, end) -> offset to read from
Restore = Callable[[int, Rows, int], None]  # (partition, rows, offset after them)


class Fenced(MemstreamError):
    """Another worker owns the partition now; nothing more may be written for it."""


class Changelog(Protocol):
    """Where a table's checkpoints go, and where it is recovered from."""

    async def open(self, partitions: Iterable[int]) -> None:
        """Takes the partitions over: from here on nobody else's checkpoint can arrive. Raises Retryable."""

    async def commit(self, partition: int, checkpoint: Checkpoint) -> int:
        """Returns the changelog offset after the checkpoint. Raises Fenced when somebody else owns the partition, and
        Retryable when nobody can tell whether it arrived: then only `open` and `read` tell, so the epoch must be begun
        anew. Taking the partition over again without reading would overwrite what a new owner has done meanwhile.
        """

    async def source(self) -> str:
        """Names the changelog: what is read from it goes with nothing that was read from another. Raises Retryable."""

    async def read(self, partitions: Iterable[int], follow: Follow, restore: Restore) -> None:
        """Asks of each partition where to read it from, then hands over its rows to the end, in order. Raises Retryable."""

    async def close(self) -> None:
        """Gives every partition up; a transaction that is still open is aborted."""


class KafkaChangelog:
    """`topic` is the physical changelog topic; `physical` turns logical topic names into physical ones.

    `client` holds aiokafka's connection settings, `group` is the consumer group whose offsets the transactions carry.
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
            # None may go on behind our back: it would fence the producer of the next attempt.
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
        self._producers[partition] = producer  # known before it is started: whatever interrupts this can close it
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
        # Of a record batch the broker tells the offset of the first record.
        return max((told.offset + count for told, (_, count) in zip(arrived, rows, strict=False)), default=0)

    async def _send_rows(self, producer: AIOKafkaProducer, partition: int, rows: Rows) -> list[tuple[Any, int]]:
        """Whole record batches, with the number of records: aiokafka's path for single records costs ten times as much."""
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
        """A cluster that was set up anew has another id, so offsets of the old one mean nothing in it."""
        admin = AIOKafkaAdminClient(**self._client, request_timeout_ms=int(self._timeout_s * 1000))
        try:
            async with asyncio.timeout(self._timeout_s):
                await admin.start()
                cluster = await admin.describe_cluster()
        except (KafkaError, TimeoutError, OSError) as exc:
            raise Retryable(f"cannot ask for the cluster's id: {exc!r}") from exc
        finally:
            await admin.close()
        return f"{cluster['cluster_id']}/{self._topic}"

    async def read(self, partitions: Iterable[int], follow: Follow, restore: Restore) -> None:
        consumer = AIOKafkaConsumer(
            **self._client,
            group_id=None,
            enable_auto_commit=False,
            isolation_level="read_committed",
            auto_offset_reset="none",  # records deleted meanwhile: ask again where to begin
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
        """Ends by position: the last offset of a changelog is a transaction marker, which is never delivered."""
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
    """What is read next; `positions` move on with it. Goes on for ever while nothing comes, as a client may that has lost
    sight of a broker which went away and came back: the caller bounds it."""
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
    """Stops a producer whose last transaction may be open or fenced: what it says of that no longer matters."""
    if (problem := await stopped_after(producer, DISCARDED_WITHIN_S)) is not None:
        log.debug("a producer did not stop cleanly: %r", problem)
