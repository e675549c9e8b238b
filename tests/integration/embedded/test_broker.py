"""Apache Kafka as an embedded broker."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.client import AIOKafkaClient

from deploy.embedded.errors import EmbeddedPartFailed
from deploy.embedded.kafka.broker import EmbeddedBroker, run
from deploy.embedded.kafka.config import DEFAULT_PARTITIONS, new_cluster_id
from deploy.embedded.ports import LOOPBACK

TOPICS = "org.apache.kafka.tools.TopicCommand"
GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


@pytest.fixture
async def broker(tmp_path: Path, cache_dir: Path) -> AsyncIterator[EmbeddedBroker]:
    broker = EmbeddedBroker(tmp_path, cache_dir / "jars")
    await broker.start()
    yield broker
    await broker.stop()


async def send(broker: EmbeddedBroker, topic: str, value: bytes) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, max_request_size=5_000_000)
    await producer.start()
    await producer.send_and_wait(topic, value, partition=0)
    await producer.stop()


async def read(broker: EmbeddedBroker, topic: str, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers, max_partition_fetch_bytes=5_000_000)
    await consumer.start()
    consumer.assign([TopicPartition(topic, 0)])
    await consumer.seek_to_beginning()
    values = [(await asyncio.wait_for(consumer.getone(), 20)).value for _ in range(count)]
    await consumer.stop()
    return values


async def tool(broker: EmbeddedBroker, main_class: str, *args: str) -> str:
    command = broker.tool_command(main_class, "--bootstrap-server", broker.bootstrap_servers, *args)
    code, output = await asyncio.to_thread(run, command)
    assert code == 0, output
    return output


async def test_messages_survive_a_stop_and_a_kill_of_the_broker(broker: EmbeddedBroker, gone: Any):
    created = await tool(broker, TOPICS, "--create", "--topic", "letters")
    assert created.strip() == "Created topic letters."
    described = await tool(broker, TOPICS, "--describe", "--topic", "letters")
    assert f"PartitionCount: {DEFAULT_PARTITIONS}" in described
    await send(broker, "letters", b"first")
    address, first_life = broker.bootstrap_servers, broker.pid
    await broker.stop()
    assert gone(first_life)

    await broker.start()
    assert broker.bootstrap_servers == address
    await send(broker, "letters", b"second")
    broker.kill()

    await broker.start()
    await send(broker, "letters", large := b"x" * 3_000_000)
    assert await read(broker, "letters", 3) == [b"first", b"second", large]
    assert (await tool(broker, GROUPS, "--list")).strip() == ""


async def test_topics_are_not_created_automatically(broker: EmbeddedBroker):
    await tool(broker, TOPICS, "--create", "--topic", "wanted")
    client = AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers)
    await client.bootstrap()
    await client.set_topics(["mistyped"])
    await client.close()
    assert (await tool(broker, TOPICS, "--list")).split() == ["wanted"]


async def test_an_occupied_port_is_reported_before_anything_starts(tmp_path: Path, cache_dir: Path):
    with socket.create_server((LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        broker = EmbeddedBroker(tmp_path, cache_dir / "jars", port)
        with pytest.raises(EmbeddedPartFailed, match=f"kafka: port {port} on 127.0.0.1 cannot be used"):
            await broker.start()
    await broker.stop()


async def test_unavailable_jars_fail_the_start_with_one_clear_line(tmp_path: Path):
    (tmp_path / "jars").write_text("a file where a directory belongs")
    broker = EmbeddedBroker(tmp_path / "data", tmp_path / "jars")
    with pytest.raises(EmbeddedPartFailed, match=r"kafka jars: .* cannot be used"):
        await broker.start()


def test_cluster_ids_are_unique_and_never_start_with_a_dash():
    ids = [new_cluster_id() for _ in range(500)]
    assert len(set(ids)) == 500
    assert {len(each) for each in ids} == {22}
    assert not any(each.startswith("-") for each in ids)
