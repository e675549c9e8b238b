"""Where a consumer group's very first start begins to read: asked of the broker once, remembered in PostgreSQL."""

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from deploy.settings import Settings
from schemas.errors import Retryable
from sinks.postgres.connection import Pool
from sinks.windows.start_offsets import Offsets, StartOffsets
from streams.apps import STAGES
from streams.kafka.consumer_groups import ConsumerGroups
from streams.kafka.topics import specs


async def fixed_origins(stage: str, settings: Settings, pool: Pool) -> Offsets:
    """The origins of a stage's partitions, by (physical topic, partition); the first worker to ask decides for all.

    Only chat input starts at `start_from`: what memstream writes to itself is never skipped. A group that has committed offsets
    started long ago, on a database that was lost: its other partitions are read from their beginning. Raises Retryable.
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
    beginnings, ends = await log_bounds(settings, tps)
    chat = topics.physical("chat.")
    committed = await ConsumerGroups(settings.cluster().client()).committed(group)
    from_end = settings.start_from == "now" and not committed
    chosen = {tp: (ends if from_end and tp.topic.startswith(chat) else beginnings)[tp] for tp in tps}
    return await origins.fix(group, {(tp.topic, tp.partition): committed.get(tp, chosen[tp]) for tp in tps})


async def log_bounds(
    settings: Settings, tps: list[TopicPartition]
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """The first offset of each partition and the one after its last committed record."""
    consumer = AIOKafkaConsumer(**settings.cluster().client(), isolation_level="read_committed")
    try:
        await consumer.start()
        return await consumer.beginning_offsets(tps), await consumer.end_offsets(tps)
    except (KafkaError, OSError) as exc:
        raise Retryable(f"cannot ask the brokers for offsets: {exc!r}") from exc
    finally:
        await consumer.stop()
