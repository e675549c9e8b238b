"""Descriptions of topics from a real broker."""

from uuid import uuid4

from aiokafka.admin import AIOKafkaAdminClient

from deploy.embedded.stack import EmbeddedStack
from streams.kafka.topics import TopicSpec, create, partition_counts


async def test_created_topics_are_there_at_once(embedded_stack: EmbeddedStack):
    """The broker of these tests tells of topics some 0.1 s after its controller has created them."""
    client = {"bootstrap_servers": embedded_stack.bootstrap_servers}
    wanted = [TopicSpec(f"there-{uuid4().hex[:8]}", 4, 1, 1_048_576) for _ in range(12)]
    names = [spec.name for spec in wanted]
    assert await create(client, wanted, 1) == names
    assert await partition_counts(client, wanted) == dict.fromkeys(names, 4)
    assert await create(client, wanted, 1) == []
    admin = AIOKafkaAdminClient(**client)
    await admin.start()
    await admin.delete_topics(names)
    await admin.close()
