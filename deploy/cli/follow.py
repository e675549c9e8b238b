"""Reading a topic from the outside, as a subscriber would: plain aiokafka, committed records, no group."""

from collections.abc import AsyncIterator
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from deploy.settings import Settings
from schemas.errors import Misconfigured, Retryable
from streams.kafka.topics import partition_counts, specs

UNKNOWN_TOPIC_MS = 10  # aiokafka sleeps so long once it has asked for a topic that it has not met
MORE_MS = 500
# Until the end: what the broker is asked for before the first seek is waited for, and so is a marker of a transaction behind the
# last record.
END_MS = 20


async def follow(settings: Settings, topic: str, *, from_beginning: bool, until_end: bool) -> AsyncIterator[Any]:
    """Records of a topic (logical name) as they come; with `until_end`, only those that are there now.

    Raises Retryable when the brokers cannot be reached, Misconfigured when the topic does not exist.
    """
    wait_ms = END_MS if until_end else MORE_MS
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
            for records in (await consumer.getmany(timeout_ms=wait_ms)).values():
                for record in records:
                    yield record
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot read {topic} from {settings.bootstrap_servers}: {exc!r}") from exc
    finally:
        await consumer.stop()


async def partitions(settings: Settings, topic: str) -> list[TopicPartition]:
    """Raises Misconfigured when the topic does not exist."""
    names = settings.topics()
    wanted = [spec for spec in specs(names) if spec.name == names.physical(topic)]
    found = await partition_counts(settings.cluster().client(), wanted)
    if wrong := [name for name, count in found.items() if not count]:
        raise Misconfigured(f"topic {wrong[0]} does not exist: run `memstream topics create`")
    return [TopicPartition(name, number) for name, count in found.items() for number in range(count)]
