"""Start offsets at a consumer group's very first start: read from the broker once and stored in PostgreSQL."""

import logging
from collections.abc import Iterable
from datetime import datetime

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from msgspec import Struct

from deploy.settings import Settings
from schemas.counts import counted
from schemas.errors import Retryable
from sinks.postgres.connection import Pool
from sinks.windows.start_offsets import Offsets, Skipped, StartOffsets
from streams.kafka.consumer_groups import ConsumerGroups
from streams.kafka.topics import STAGES, specs

log = logging.getLogger(__name__)


class Bounds(Struct, frozen=True):
    """By partition: the first offset, the end of committed records, and the first offset at or after a moment (None: all
    records are older)."""

    beginnings: dict[TopicPartition, int]
    ends: dict[TopicPartition, int]
    since: dict[TopicPartition, int | None]

    def was_empty_before(self, tps: Iterable[TopicPartition]) -> bool:
        """Whether these partitions had no records before that moment, as far as the log still shows."""
        return all(self.beginnings[tp] == 0 and (self.ends[tp] == 0 or self.since[tp] == 0) for tp in tps)


async def start_offsets(stage: str, settings: Settings, pool: Pool) -> Offsets:
    """The start offsets of a stage's partitions, by (physical topic, partition); the first worker decides for all.

    Only chat input starts at `start_from`: memstream's own topics are never skipped, nor topics without records from before
    the installation. A group with committed offsets started long ago on a lost database: its other partitions start at their
    beginning. Raises Retryable.
    """
    topics = settings.topics()
    group = topics.group(stage)
    origins = StartOffsets(pool)
    if known := await origins.recorded(group):
        return known
    inputs = {topics.physical(name) for name in STAGES[stage]}
    tps = [
        TopicPartition(spec.name, n) for spec in specs(topics) if spec.name in inputs for n in range(spec.partitions)
    ]
    bounds = await log_bounds(settings, tps, await origins.installed_at())
    committed = await ConsumerGroups(settings.cluster().client()).committed(group)
    from_end = settings.start_from == "now" and not committed
    skipping = skipped_partitions(tps, topics.physical("chat."), bounds) if from_end else []
    chosen = bounds.beginnings | {tp: bounds.ends[tp] for tp in skipping}
    skipped = {(tp.topic, tp.partition): bounds.ends[tp] - bounds.beginnings[tp] for tp in skipping}
    log_skipped(skipped, group)
    return await origins.fix(group, {(tp.topic, tp.partition): committed.get(tp, chosen[tp]) for tp in tps}, skipped)


def skipped_partitions(tps: Iterable[TopicPartition], chat: str, bounds: Bounds) -> list[TopicPartition]:
    """Partitions of chat topics with records from before the installation."""
    by_topic: dict[str, list[TopicPartition]] = {}
    for tp in tps:
        if tp.topic.startswith(chat):
            by_topic.setdefault(tp.topic, []).append(tp)
    return [tp for each in by_topic.values() if not bounds.was_empty_before(each) for tp in each]


def log_skipped(skipped: Offsets, group: str) -> None:
    by_topic: dict[str, int] = {}
    for (topic, _), records in skipped.items():
        by_topic[topic] = by_topic.get(topic, 0) + records
    for topic, records in by_topic.items():
        if records:
            log.warning("first start: %s", remedy(Skipped(group, topic, records)))


def remedy(skipped: Skipped) -> str:
    """The skipped records, and how to read them after all."""
    return (
        f"{skipped.group} skips about {counted(skipped.records, 'records')} written to {skipped.topic} before its first start "
        "(MEMSTREAM_START_FROM=now). To have them read, stop the workers and reset the group's offsets of the topic: "
        f"kafka-consumer-groups.sh --bootstrap-server BROKERS --group {skipped.group} --topic {skipped.topic} "
        "--reset-offsets --to-earliest --execute. Token windows ignore messages older than what they have seen of a "
        "conversation: `memstream replay` extracts those from the archive"
    )


async def log_bounds(settings: Settings, tps: list[TopicPartition], since: datetime) -> Bounds:
    """The bounds of the partitions. Raises Retryable."""
    consumer = AIOKafkaConsumer(**settings.cluster().client(), isolation_level="read_committed")
    moment_ms = int(since.timestamp() * 1000)
    try:
        await consumer.start()
        found = await consumer.offsets_for_times(dict.fromkeys(tps, moment_ms))
        return Bounds(
            await consumer.beginning_offsets(tps),
            await consumer.end_offsets(tps),
            {tp: at.offset if (at := found.get(tp)) is not None else None for tp in tps},
        )
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot ask the brokers for offsets: {exc!r}") from exc
    finally:
        await consumer.stop()
