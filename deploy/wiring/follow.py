"""Reads a topic as a plain Kafka consumer: committed records only, no consumer group."""

from collections.abc import AsyncIterator
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from deploy.settings import Settings
from schemas.errors import Misconfigured, Retryable
from streams.kafka.lenient_parser import getmany
from streams.kafka.topics import partition_counts, specs

UNKNOWN_TOPIC_MS = 10  # aiokafka's pause after it requests the metadata of a new topic
FETCH_WAIT_MS = 500
# With `until_end`: the consumer waits this long for the fetch before the first seek, and for the transaction marker after the
# last record.
FETCH_WAIT_UNTIL_END_MS = 20


async def follow(settings: Settings, topic: str, *, from_beginning: bool, until_end: bool) -> AsyncIterator[Any]:
    """Yields the records of a topic (logical name) as they arrive; with `until_end`, only those present at the start.

    Raises Retryable if the brokers cannot be reached, and Misconfigured if the topic does not exist.
    """
    wait_ms = FETCH_WAIT_UNTIL_END_MS if until_end else FETCH_WAIT_MS
    consumer = AIOKafkaConsumer(
        **settings.cluster().client(),
        enable_auto_commit=False,
        isolation_level="read_committed",
        retry_backoff_ms=UNKNOWN_TOPIC_MS,
        fetch_max_wait_ms=wait_ms,
    )
    try:
        await consumer.start()
        tps = await partitions(settings, topic)
        consumer.assign(tps)
        ends = await consumer.end_offsets(tps)
        starts = await consumer.beginning_offsets(tps) if from_beginning else ends
        for tp in tps:
            consumer.seek(tp, starts[tp])
        while not until_end or any([await consumer.position(tp) < ends[tp] for tp in tps]):
            for records in (await getmany(consumer, timeout_ms=wait_ms)).values():
                for record in records:
                    yield record
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot read {topic} from {settings.bootstrap_servers}: {exc!r}") from exc
    finally:
        await consumer.stop()


async def partitions(settings: Settings, topic: str) -> list[TopicPartition]:
    """Returns the partitions of a topic (logical name). Raises Misconfigured if the topic does not exist."""
    names = settings.topics()
    wanted = [spec for spec in specs(names) if spec.name == names.physical(topic)]
    found = await partition_counts(settings.cluster().client(), wanted)
    if wrong := [name for name, count in found.items() if not count]:
        raise Misconfigured(f"topic {wrong[0]} does not exist: run `memstream topics create`")
    return [TopicPartition(name, number) for name, count in found.items() for number in range(count)]
