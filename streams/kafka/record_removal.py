"""Removes single records from a topic with time-based retention: appends the other records of a partition again, then
deletes everything before them. Kafka cannot delete single records."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from aiokafka.errors import KafkaError

from schemas.counts import counted
from schemas.errors import Retryable
from streams.kafka.lenient_parser import getmany

log = logging.getLogger(__name__)

SENT_TOGETHER: Final = 500

Unwanted = Callable[[Any], bool]  # whether to remove a record
Settles = Callable[
    [Any], int | None
]  # the offset of the earlier record in its partition that a record settles: both can be removed


class Span(NamedTuple):
    """The content of a partition at the start: offsets from `begin` up to `end`, exclusive."""

    tp: TopicPartition
    begin: int
    end: int


async def log_ends(client: dict[str, Any], topic: str, partitions: int) -> dict[int, int]:
    """The current end of each partition, by number. Raises Retryable."""
    consumer = AIOKafkaConsumer(**client, enable_auto_commit=False)
    try:
        await consumer.start()
        ends = await consumer.end_offsets([TopicPartition(topic, number) for number in range(partitions)])
        return {tp.partition: end for tp, end in ends.items()}
    except (KafkaError, OSError, TimeoutError) as exc:
        raise Retryable(f"cannot read the end offsets of {topic}: {exc!r}") from exc
    finally:
        await consumer.stop()


async def remove_records(
    client: dict[str, Any], topic: str, partitions: int, unwanted: Unwanted, settles: Settles, max_bytes: int
) -> int:
    """Removes `unwanted` records and returns their number; a partition without any is not rewritten. Raises Retryable.

    A crash in between leaves the kept records twice.
    """
    consumer = AIOKafkaConsumer(
        **client, enable_auto_commit=False, isolation_level="read_committed", max_partition_fetch_bytes=max_bytes
    )
    producer = AIOKafkaProducer(**client, acks="all", enable_idempotence=True, max_request_size=max_bytes)
    admin = AIOKafkaAdminClient(**client)
    removed = 0
    try:
        await consumer.start()
        await producer.start()
        await admin.start()
        for span in await spans(consumer, topic, partitions):
            removed += await remove_span(consumer, producer, admin, span, unwanted, settles)
    except (KafkaError, OSError, TimeoutError) as exc:
        raise Retryable(f"cannot remove records from {topic}: {exc!r}") from exc
    finally:
        await consumer.stop()
        await producer.stop()
        await admin.close()
    return removed


async def spans(consumer: AIOKafkaConsumer, topic: str, partitions: int) -> list[Span]:
    """The spans of partitions that are not empty."""
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
    removed: set[int] = set()
    settled: set[int] = set()
    async for record in records(consumer, span):
        if (place := settles(record)) is not None:
            settled |= {place, record.offset}
        if unwanted(record):
            removed.add(record.offset)
    if not removed:
        return 0
    topic, number = span.tp
    sent: list[Awaitable[Any]] = []
    async for record in records(consumer, span):
        if record.offset not in removed and record.offset not in settled:
            headers = list(record.headers)
            sent.append(await producer.send(topic, record.value, record.key, partition=number, headers=headers))
        if len(sent) >= SENT_TOGETHER:
            await asyncio.gather(*sent)
            sent.clear()
    await asyncio.gather(*sent)
    await admin.delete_records({span.tp: RecordsToDelete(before_offset=span.end)})
    log.info("%s[%d]: removed %s", topic, number, counted(len(removed), "records"))
    return len(removed)


async def records(consumer: AIOKafkaConsumer, span: Span) -> AsyncIterator[Any]:
    """The records of a span, in order."""
    consumer.assign([span.tp])
    consumer.seek(span.tp, span.begin)
    while await consumer.position(span.tp) < span.end:
        for record in (await getmany(consumer, span.tp, timeout_ms=200)).get(span.tp, ()):
            if record.offset < span.end:
                yield record
