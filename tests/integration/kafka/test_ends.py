"""End offsets of partitions that are not fetched, read from a real broker."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from faust.types import TP

from deploy.embedded.stack import EmbeddedStack
from streams.delivery.consumer_thread import FencedConsumerThread
from streams.kafka.topics import TopicSpec, create
from tests.deployment import eventually


class Beside(FencedConsumerThread):
    """On the test's own loop, around a consumer that reads nothing."""

    def __init__(self, kafka: AIOKafkaConsumer) -> None:
        self._kafka = kafka

    def _ensure_consumer(self) -> AIOKafkaConsumer:
        return self._kafka

    async def call_thread(self, fun: Callable[..., Awaitable[Any]], *args: Any, **_: Any) -> Any:
        return await fun(*args)


@pytest.fixture
def client(embedded_stack: EmbeddedStack) -> dict[str, Any]:
    return {"bootstrap_servers": embedded_stack.bootstrap_servers}


@pytest.fixture
async def topic(client: dict[str, Any]) -> AsyncIterator[str]:
    name = f"ends-{uuid4().hex[:8]}"
    await create(client, [TopicSpec(name, 2, 1, 1_048_576)], 1)
    yield name
    admin = AIOKafkaAdminClient(**client)
    await admin.start()
    await admin.delete_topics([name])
    await admin.close()


async def test_end_offsets_are_after_committed_records_and_before_an_open_transaction(
    client: dict[str, Any], topic: str
):
    zero, one = TP(topic, 0), TP(topic, 1)
    producer = AIOKafkaProducer(**client, transactional_id=topic)
    async with AIOKafkaConsumer(topic, **client, isolation_level="read_committed") as kafka, producer:
        source = Beside(kafka)
        async with producer.transaction():
            for _ in range(3):
                await producer.send_and_wait(topic, b"x", partition=0)
            await producer.send_and_wait(topic, b"x", partition=1)
        await producer.begin_transaction()
        await producer.send_and_wait(topic, b"x", partition=0)
        assert await source.ends([zero, one]) == {zero: 4, one: 2}, "a marker stands behind each"
        await producer.commit_transaction()

        async def arrived() -> bool:
            return await source.ends([zero]) == {zero: 6}

        await eventually(arrived, "the marker of the second is there")
