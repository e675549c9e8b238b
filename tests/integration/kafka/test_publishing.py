"""Publishing to a real broker that refuses a record."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from deploy.embedded.stack import EmbeddedStack
from schemas.errors import Rejected
from schemas.kafka.records import Outgoing
from streams.kafka.publisher import KafkaPublisher

MOST_BYTES = 2_000


def record(topic: str, value: bytes) -> Outgoing:
    return Outgoing(topic=topic, key=b"k", value=value)


@pytest.fixture
def servers(embedded_stack: EmbeddedStack) -> str:
    return embedded_stack.broker.bootstrap_servers


@pytest.fixture
async def tight(servers: str) -> AsyncIterator[str]:
    """A topic that takes smaller records than the publisher."""
    topic = f"tight-{uuid4().hex[:8]}"
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    await admin.create_topics([NewTopic(topic, 1, 1, topic_configs={"max.message.bytes": str(MOST_BYTES)})])
    yield topic
    await admin.delete_topics([topic])
    await admin.close()


async def values(servers: str, topic: str, count: int) -> list[bytes | None]:
    async with AIOKafkaConsumer(topic, bootstrap_servers=servers, auto_offset_reset="earliest") as consumer:
        return [(await consumer.getone()).value for _ in range(count)]


async def test_records_behind_one_that_the_broker_refuses_are_published_once_and_in_order(servers: str, tight: str):
    async with KafkaPublisher({"bootstrap_servers": servers}, str) as publisher:
        await publisher.publish([record(tight, b"1")])
        for number in (b"2", b"4"):
            with pytest.raises(Rejected, match="unpublishable"):
                await publisher.publish([record(tight, b"x" * MOST_BYTES)])
            await publisher.publish([record(tight, number), record(tight, b"%d" % (int(number) + 1))])
    assert await values(servers, tight, 5) == [b"1", b"2", b"3", b"4", b"5"]
