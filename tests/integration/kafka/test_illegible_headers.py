"""Readers without a consumer group get all records of a batch in which a header's name is not UTF-8."""

from uuid import uuid4

import pytest
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from deploy.embedded.stack import EmbeddedStack
from streams.kafka.log import Log
from streams.kafka.policy_topic import PolicyTopic
from tests.deployment import eventually
from tests.raw_records import UNNAMED, Raw, publish_batch

RECORDS = (Raw(b"before"), Raw(b"illegible", headers=UNNAMED), Raw(b"after"))
VALUES = [record.value for record in RECORDS]


@pytest.fixture
async def topic(embedded_stack: EmbeddedStack) -> str:
    """A topic of two partitions; the batch is in the first."""
    name = f"headers-{uuid4().hex[:8]}"
    admin = AIOKafkaAdminClient(bootstrap_servers=embedded_stack.bootstrap_servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(name, 2, 1)])
    finally:
        await admin.close()
    await publish_batch(embedded_stack.bootstrap_servers, name, RECORDS)
    return name


@pytest.fixture
def client(embedded_stack: EmbeddedStack) -> dict[str, str]:
    return {"bootstrap_servers": embedded_stack.bootstrap_servers}


async def test_policies_are_read_to_the_end_and_later_ones_follow(client: dict[str, str], topic: str) -> None:
    async with PolicyTopic(client, topic) as policies:
        assert [record.value for record in await policies.to_end()] == VALUES
        await publish_batch(client["bootstrap_servers"], topic, RECORDS)
        later = list[bytes]()

        async def all_read() -> bool:
            later.extend(record.value for record in await policies.since())
            return len(later) >= len(VALUES)

        await eventually(all_read, "the later records are read")

    assert later == VALUES


async def test_a_log_is_read_in_chunks(client: dict[str, str], topic: str) -> None:
    chunks = [chunk async for chunk in Log(client).chunks(topic, {0: 0, 1: 0})]

    assert [record.value for chunk in chunks for record in chunk.records] == VALUES


async def test_single_records_of_a_log_are_read(client: dict[str, str], topic: str) -> None:
    found = [record async for record in Log(client).at(topic, {0: [1, 2], 1: []})]

    assert [record.value for record in found] == VALUES[1:]
    assert found[0].headers == (("\ufffd" * 4, UNNAMED[0][1]),)
