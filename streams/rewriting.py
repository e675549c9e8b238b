"""Taking single records out of a topic that deletes by age: what stays of a partition is written again behind its end, then all
before that is deleted. Kafka itself deletes no record alone."""

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.errors import KafkaError

from schemas.errors import Retryable

log = logging.getLogger(__name__)

Unwanted = Callable[[Any], bool]  # of a record: whether it is to go
Settles = Callable[[Any], int | None]  # which earlier record of its partition one stands for: neither has to be kept


async def log_ends(client: dict[str, Any], topic: str, partitions: int) -> dict[int, int]:
    """Where each partition ends now, by number. Raises Retryable."""
    consumer = AIOKafkaConsumer(**client, enable_auto_commit=False)
    try:
        await consumer.start()
        ends = await consumer.end_offsets([TopicPartition(topic, number) for number in range(partitions)])
        return {tp.partition: end for tp, end in ends.items()}
    except (KafkaError, OSError, TimeoutError) as exc:
        raise Retryable(f"cannot ask where {topic} ends: {exc!r}") from exc
    finally:
        await consumer.stop()


async def taken_out(
    client: dict[str, Any], topic: str, partitions: int, unwanted: Unwanted, settles: Settles, max_bytes: int
) -> int:
    """How many records were `unwanted`; a partition without any stays as it is. Raises Retryable.

    A crash in between leaves what stays twice.
    """
    consumer = AIOKafkaConsumer(
        **client, enable_auto_commit=False, isolation_level="read_committed", max_partition_fetch_bytes=max_bytes
    )
    producer = AIOKafkaProducer(**client, acks="all", enable_idempotence=True, max_request_size=max_bytes)
    admin = AIOKafkaAdminClient(**client)
    gone = 0
    try:
        await consumer.start()
        await producer.start()
        await admin.start()
        for number in range(partitions):
            gone += await partition_taken_out(
                consumer, producer, admin, TopicPartition(topic, number), unwanted, settles
            )
    except (KafkaError, OSError, TimeoutError) as exc:
        raise Retryable(f"cannot take records out of {topic}: {exc!r}") from exc
    finally:
        await consumer.stop()
        await producer.stop()
        await admin.close()
    return gone


async def partition_taken_out(
    consumer: AIOKafkaConsumer,
    producer: AIOKafkaProducer,
    admin: AIOKafkaAdminClient,
    tp: TopicPartition,
    unwanted: Unwanted,
    settles: Settles,
) -> int:
    (end,) = (await consumer.end_offsets([tp])).values()
    gone: set[int] = set()
    settled: set[int] = set()
    async for record in records(consumer, tp, end):
        if (place := settles(record)) is not None:
            settled |= {place, record.offset}
        if unwanted(record):
            gone.add(record.offset)
    if not gone:
        return 0
    async for record in records(consumer, tp, end):
        if record.offset not in gone and record.offset not in settled:
            await producer.send_and_wait(
                tp.topic, record.value, record.key, partition=tp.partition, headers=list(record.headers)
            )
    await admin.delete_records({tp: RecordsToDelete(before_offset=end)})
    log.info("%s[%d]: %d records were taken out", tp.topic, tp.partition, len(gone))
    return len(gone)


async def records(consumer: AIOKafkaConsumer, tp: TopicPartition, end: int) -> AsyncIterator[Any]:
    """What is there up to an offset, in order."""
    consumer.assign([tp])
    await consumer.seek_to_beginning(tp)
    while await consumer.position(tp) < end:
        for record in (await consumer.getmany(tp, timeout_ms=200)).get(tp, ()):
            if record.offset < end:
                yield record
