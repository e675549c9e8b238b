"""Lag of each stage on its topics, as the brokers report it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from msgspec import Struct

from schemas.errors import Retryable
from streams.kafka.consumer_groups import ConsumerGroups
from streams.kafka.log import partitions_of
from streams.kafka.topics import STAGES, TopicSettings

Positions: TypeAlias = Mapping[tuple[str, int], int]
Origins: TypeAlias = Callable[[str], Awaitable[Positions]]


class TopicLag(Struct, frozen=True, kw_only=True):
    """The number of records of a topic (logical name) that a stage has not finished: in all partitions, and in the partition
    with the most."""

    topic: str
    records: int
    most: int


class StageLag(Struct, frozen=True, kw_only=True):
    """The lag of a stage, and whether any worker runs it."""

    stage: str
    records: int
    running: bool
    topics: tuple[TopicLag, ...]


class StageLags:
    """`client` is aiokafka's connection settings; `origins` has the start offsets of a group, by physical topic and
    partition."""

    def __init__(self, client: dict[str, Any], topics: TopicSettings, origins: Origins) -> None:
        self._origins = origins
        self._client = client
        self._topics = topics
        self._groups = ConsumerGroups(client)

    async def read(self) -> tuple[StageLag, ...]:
        """The lag of every stage. Raises Retryable, and Misconfigured for a missing topic."""
        groups = {stage: self._topics.group(stage) for stage in STAGES}
        ends, running, *committed = await asyncio.gather(
            self._ends(), self._groups.with_members(groups.values()), *map(self._read_to, groups.values())
        )
        behind = dict(zip(STAGES, committed, strict=True))
        return tuple(
            stage_lag(stage, groups[stage] in running, [self._lag(each, ends, behind[stage]) for each in STAGES[stage]])
            for stage in STAGES
        )

    async def _read_to(self, group: str) -> Positions:
        """The committed offsets of a group, or its start offsets."""
        committed, began = await asyncio.gather(self._groups.committed(group), self._origins(group))
        return {**began, **{(tp.topic, tp.partition): offset for tp, offset in committed.items()}}

    def _lag(self, topic: str, ends: Mapping[TopicPartition, tuple[int, int]], at: Positions) -> TopicLag:
        name = self._topics.physical(topic)
        of_topic = {tp: bounds for tp, bounds in ends.items() if tp.topic == name}
        lags = [lag(at.get((name, tp.partition), end), first, end) for tp, (first, end) in of_topic.items()]
        return TopicLag(topic=topic, records=sum(lags), most=max(lags, default=0))

    async def _ends(self) -> dict[TopicPartition, tuple[int, int]]:
        """The first offsets and the ends of the stages' topics."""
        names = sorted({self._topics.physical(topic) for read in STAGES.values() for topic in read})
        found = await asyncio.gather(*(partitions_of(self._client, name) for name in names))
        tps = [tp for of_topic in found for tp in of_topic]
        consumer = AIOKafkaConsumer(**self._client, enable_auto_commit=False, isolation_level="read_committed")
        try:
            await consumer.start()
            begins, ends = await consumer.beginning_offsets(tps), await consumer.end_offsets(tps)
        except (KafkaError, OSError) as exc:
            raise Retryable(f"cannot read the end offsets of topics: {exc!r}") from exc
        finally:
            await consumer.stop()
        return {tp: (begins[tp], ends[tp]) for tp in tps}


def lag(position: int, first: int, end: int) -> int:
    """The records between a group's position and the end that the topic still has."""
    return max(0, end - max(position, first))


def stage_lag(stage: str, running: bool, lags: Sequence[TopicLag]) -> StageLag:
    return StageLag(stage=stage, records=sum(each.records for each in lags), running=running, topics=tuple(lags))
