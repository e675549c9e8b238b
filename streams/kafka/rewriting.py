"""Taking single records out of a topic that deletes by age: what stays of a partition is written again behind its end, then all
before that is deleted. Kafka itself deletes no record alone."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.errors import KafkaError

from schemas.errors import Retryable

log = logging.getLogger(__name__)

SENT_TOGETHER: Final = 500

Unwanted = Callable[[Any], bool]  # of a record: whether it is to go
Settles = Callable[[Any], int | None]  # which earlier record of its partition one stands for: neither has to be kept


class Span(NamedTuple):
    """What a partition held when it was looked at: offsets from `begin` up to `end`, exclusive."""

    tp: TopicPartition
    begin: int
    end: int


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


async def remove_records(
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
        for span in await spans(consumer, topic, partitions):
            gone += await remove_span(consumer, producer, admin, span, unwanted, settles)
    except (KafkaError, OSError, TimeoutError) as exc:
        raise Retryable(f"cannot take records out of {topic}: {exc!r}") from exc
    finally:
        await consumer.stop()
        await producer.stop()
        await admin.close()
    return gone


async def spans(consumer: AIOKafkaConsumer, topic: str, partitions: int) -> list[Span]:
    """Of the partitions that hold anything."""
    tps = [TopicPartition(topic, number) for number in range(partitions)]
    begins, ends = await consumer.beginning_offsets(tps), await consumer.end_offsets(tps)
    return [Span(tp, begins[tp], ends[tp]) for tp in tps if begins[tp] < ends[tp]]


async def remove_span(
    consumer: AIOKafkaConsumer,
    producer: AIOKafkaProducer,
    admin: AIOKafkaAdminClient,
    span: Span,
    unwanted: Unwanted,
    settles: Settles,
) -> int:
    gone: set[int] = set()
    settled: set[int] = set()
    async for record in records(consumer, span):
        if (place := settles(record)) is not None:
            settled |= {place, record.offset}
        if unwanted(record):
            gone.add(record.offset)
    if not gone:
        return 0
    topic, number = span.tp
    sent: list[Awaitable[Any]] = []
    async for record in records(consumer, span):
        if record.offset not in gone and record.offset not in settled:
            headers = list(record.headers)
            sent.append(await producer.send(topic, record.value, record.key, partition=number, headers=headers))
        if len(sent) >= SENT_TOGETHER:
            await asyncio.gather(*sent)
            sent.clear()
    await asyncio.gather(*sent)
    await admin.delete_records({span.tp: RecordsToDelete(before_offset=span.end)})
    log.info("%s[%d]: %d records were taken out", topic, number, len(gone))
    return len(gone)


async def records(consumer: AIOKafkaConsumer, span: Span) -> AsyncIterator[Any]:
    """What is there, in order."""
    consumer.assign([span.tp])
    consumer.seek(span.tp, span.begin)
    while await consumer.position(span.tp) < span.end:
        for record in (await consumer.getmany(span.tp, timeout_ms=200)).get(span.tp, ()):
            if record.offset < span.end:
                yield record
