"""Reads the compacted topic of policies: to its end before work starts, then new records, without a group.

A Faust table would need an agent and a changelog in each app, for a topic of a few records.
"""

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from schemas.errors import Retryable
from streams.kafka.lenient_parser import getmany

READ_WITHIN_S = 60.0


class PolicyTopic:
    """One reader of the topic's only partition. Start and stop it with `async with`, which raises Retryable."""

    def __init__(self, client: dict[str, Any], name: str, read_within_s: float = READ_WITHIN_S) -> None:
        self._client = client
        self._partition = TopicPartition(name, 0)
        self._read_within_s = read_within_s

    async def __aenter__(self) -> "PolicyTopic":
        self._consumer = AIOKafkaConsumer(
            **self._client,
            enable_auto_commit=False,
            auto_offset_reset="earliest",  # also after the topic was deleted and recreated
            isolation_level="read_committed",
        )
        try:
            await self._consumer.start()
            self._consumer.assign([self._partition])
        except (KafkaError, OSError) as exc:
            await self._consumer.stop()
            raise Retryable(f"cannot reach the brokers: {exc!r}") from exc
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._consumer.stop()

    async def to_end(self) -> list[Any]:
        """Every record (aiokafka ConsumerRecord) that is there now, from the beginning and in order. Raises Retryable."""
        found: list[Any] = []
        try:
            async with asyncio.timeout(self._read_within_s):
                end = (await self._consumer.end_offsets([self._partition]))[self._partition]
                await self._consumer.seek_to_beginning(self._partition)
                while await self._consumer.position(self._partition) < end:
                    found += await self._some(200)
        except (KafkaError, OSError, TimeoutError) as exc:
            raise Retryable(f"cannot read {self._partition.topic} to its end: {exc!r}") from exc
        return found

    async def since(self) -> list[Any]:
        """The records that came since the last call, without waiting for any. Raises Retryable."""
        try:
            return await self._some(0)
        except (KafkaError, OSError) as exc:
            raise Retryable(f"cannot read {self._partition.topic}: {exc!r}") from exc

    async def _some(self, timeout_ms: int) -> list[Any]:
        fetched: dict[TopicPartition, list[Any]] = await getmany(self._consumer, timeout_ms=timeout_ms)
        return fetched.get(self._partition, [])
