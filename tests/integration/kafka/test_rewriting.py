"""Single records are removed from a topic with time retention, and the others keep their retention, on a real
broker."""

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from deploy.embedded.stack import EmbeddedStack
from deploy.wiring.erasure import remains_of_topic
from streams.kafka.record_removal import log_ends, remove_records
from streams.kafka.topics import DAY_MS, TopicSettings, TopicSpec, create, settings_of, specs

LARGEST = 1_048_576
CONFIGS = "kafka.admin.ConfigCommand"
GUIDE = Path(__file__).parents[3] / "deploy" / "docs" / "erasure.md"


@pytest.fixture
def client(embedded_stack: EmbeddedStack) -> dict[str, Any]:
    return {"bootstrap_servers": embedded_stack.bootstrap_servers}


@pytest.fixture
async def topic(client: dict[str, Any]) -> AsyncIterator[str]:
    name = f"letters-{uuid4().hex[:8]}"
    await create(client, [TopicSpec(name, 2, 90, LARGEST)], 1)
    yield name
    admin = AIOKafkaAdminClient(**client)
    await admin.start()
    await admin.delete_topics([name])
    await admin.close()


async def publish(client: dict[str, Any], topic: str, partition: int, *values: bytes) -> None:
    producer = AIOKafkaProducer(**client)
    await producer.start()
    for value in values:
        await producer.send_and_wait(topic, value, b"key", partition=partition, headers=[("a", b"1")])
    await producer.stop()


async def stands(client: dict[str, Any], topic: str) -> dict[int, list[tuple[int, bytes]]]:
    """Offset and value of what each partition has, by partition."""
    consumer = AIOKafkaConsumer(**client, auto_offset_reset="earliest")
    await consumer.start()
    found: dict[int, list[tuple[int, bytes]]] = {}
    for number in range(2):
        tp = TopicPartition(topic, number)
        consumer.assign([tp])
        await consumer.seek_to_beginning(tp)
        (end,) = (await consumer.end_offsets([tp])).values()
        found[number] = []
        while await consumer.position(tp) < end:
            records = (await consumer.getmany(tp, timeout_ms=200)).get(tp, ())
            found[number] += [(record.offset, record.value) for record in records]
    await consumer.stop()
    return found


async def test_unwanted_records_are_removed_and_the_others_stay_in_order(client: dict[str, Any], topic: str):
    await publish(client, topic, 0, b"1", b"unwanted", b"2", b"done", b"settles 3", b"3")
    await publish(client, topic, 1, b"untouched")
    ends = await log_ends(client, topic, 2)
    assert ends == {0: 6, 1: 1}

    def settles(record: Any) -> int | None:
        return 3 if record.value == b"settles 3" else None

    gone = await remove_records(client, topic, 2, lambda record: record.value == b"unwanted", settles, LARGEST)
    assert gone == 1
    assert await stands(client, topic) == {0: [(6, b"1"), (7, b"2"), (8, b"3")], 1: [(0, b"untouched")]}
    assert await remove_records(client, topic, 2, lambda record: record.value == b"unwanted", settles, LARGEST) == 0
    assert await log_ends(client, topic, 2) == {0: 9, 1: 1}, "there was nothing to do"


async def test_documented_commands_shorten_the_retention_stated_in_a_receipt(
    embedded_stack: EmbeddedStack, client: dict[str, Any]
):
    """Each is run as it stands there, but for the broker's address and a prefix of names."""
    names = TopicSettings(prefix=f"t{uuid4().hex[:6]}.", conversation_partitions=1, namespace_partitions=1)
    wanted = specs(names)
    await create(client, wanted, 1)
    at = datetime(2026, 3, 1, tzinfo=UTC)
    kept = await settings_of(client, [spec.name for spec in wanted])
    assert remains_of_topic(names.changelog, "rows", kept[names.changelog], at).until == at + timedelta(days=1)
    messages = names.physical("chat.messages")
    assert remains_of_topic(messages, "said", kept[messages], at).until == at + timedelta(days=37)
    try:
        for topics, config in commands(GUIDE.read_text()):
            for topic in topics:
                args = (
                    "--alter",
                    "--entity-type",
                    "topics",
                    "--entity-name",
                    names.prefix + topic,
                    "--add-config",
                    config,
                )
                command = embedded_stack.broker.tool_command(
                    CONFIGS, "--bootstrap-server", embedded_stack.bootstrap_servers, *args
                )
                done = await asyncio.to_thread(
                    subprocess.run, command, capture_output=True, text=True, timeout=60, check=False
                )
                assert done.returncode == 0, done.stdout + done.stderr
        kept = await settings_of(client, [spec.name for spec in wanted])
        requests = names.physical("memory.extraction-requests")
        hours = remains_of_topic(requests, "messages", kept[requests], at)
        assert (hours.until, hours.because) == (
            at + timedelta(hours=25),
            f"retention.ms={DAY_MS}, segment.ms=3600000",
        )
        assert remains_of_topic(messages, "said", kept[messages], at).until == at + timedelta(days=7, hours=6)
    finally:
        admin = AIOKafkaAdminClient(**client)
        await admin.start()
        await admin.delete_topics([spec.name for spec in wanted])
        await admin.close()


def commands(guide: str) -> list[tuple[list[str], str]]:
    """Topics and settings of each call of kafka-configs.sh."""
    found = []
    for block in re.findall(r"```sh\n(.*?)```", guide, re.DOTALL):
        looped: list[str] = []
        for line in block.replace("\\\n", " ").splitlines():
            if loop := re.match(r"for topic in (.*); do", line):
                looped = loop[1].split()
            elif call := re.search(r"--entity-name (\S+)\s+--add-config (\S+)", line):
                found.append((looped if call[1] == "$topic" else [call[1]], call[2]))
    assert len(found) == 3
    return found


def test_a_topic_with_unlimited_retention_has_no_end_date():
    at = datetime(2026, 3, 1, tzinfo=UTC)
    for_ever = {"cleanup.policy": "delete", "retention.ms": "-1", "segment.ms": "604800000"}
    assert remains_of_topic("t", "said", for_ever, at).until is None
    assert (
        remains_of_topic("t", "rows", {"cleanup.policy": "compact", "max.compaction.lag.ms": str(2**63 - 1)}, at).until
        is None
    )
