"""The contract of the policy topic: the fake, and the reader of a real broker."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaProducer

from deploy.embedded.stack import EmbeddedStack
from schemas import codec
from schemas.errors import Retryable
from schemas.kafka import topics
from schemas.policies.policies import Policy
from streams.kafka.policy_topic import PolicyTopic
from streams.kafka.topics import TopicSettings, create, specs
from tests.deployment import eventually
from tests.fakes.policy_topic import FakePolicyTopic


class RealTopic:
    """Publishes as anybody would, and reads through the real reader."""

    def __init__(self, reader: PolicyTopic, producer: AIOKafkaProducer, name: str) -> None:
        self._producer, self._name = producer, name
        self.to_end, self.since = reader.to_end, reader.since

    async def write(self, key: bytes, value: bytes | None) -> None:
        await self._producer.send_and_wait(self._name, value, key)


class FakeTopic:
    def __init__(self) -> None:
        self._fake = FakePolicyTopic()
        self.to_end, self.since = self._fake.to_end, self._fake.since

    async def write(self, key: bytes, value: bytes | None) -> None:
        self._fake.write(key, value)


@pytest.fixture(params=["fake", "real"])
async def topic(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if request.param == "fake":
        yield FakeTopic()
        return
    stack: EmbeddedStack = request.getfixturevalue("embedded_stack")
    names = TopicSettings(prefix=f"policies-{uuid4().hex[:8]}.")
    name = names.physical(topics.POLICIES)
    client = {"bootstrap_servers": stack.bootstrap_servers}
    await create(client, [spec for spec in specs(names) if spec.name == name], 1)
    async with AIOKafkaProducer(**client) as producer, PolicyTopic(client, name) as reader:
        yield RealTopic(reader, producer, name)


def seen(records: list[Any]) -> list[tuple[bytes, bytes | None]]:
    return [(record.key, record.value) for record in records]


async def test_an_empty_topic_is_read_to_its_end_at_once(topic: Any) -> None:
    assert await topic.to_end() == []
    assert await topic.since() == []


async def test_all_records_and_tombstones_are_read_in_order_and_then_only_newer_ones(
    topic: Any,
) -> None:
    first = [(b"a", codec.encode(Policy(name="a"))), (b"b", b"{"), (b"a", None)]
    for key, value in first:
        await topic.write(key, value)
    records = await topic.to_end()
    assert seen(records) == first
    assert [record.offset for record in records] == [0, 1, 2]
    await topic.write(b"c", b"{}")

    async def came() -> list[tuple[bytes, bytes | None]]:
        return seen(await topic.since())

    assert await eventually(came, "the record that came since", 30) == [(b"c", b"{}")]
    assert seen(await topic.since()) == []
    assert seen(await topic.to_end()) == [*first, (b"c", b"{}")]


async def test_unreachable_brokers_raise_retryable() -> None:
    with pytest.raises(Retryable, match="cannot reach the brokers"):
        async with PolicyTopic({"bootstrap_servers": "127.0.0.1:1"}, "memory.policies"):
            raise AssertionError("there is no broker on port 1")
