"""Records that no chat service should publish, and some do: each is dead-lettered by its position, and the rest goes on."""

import gzip
import json
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.record.util import calc_crc32c

from deploy.embedded.stack import EmbeddedStack
from schemas import topics
from tests.deployment import Deployment, Event, deployed, eventually

PLACEHOLDER, NO_NAME = b"QQQQ", b"\xff\xfe\xff\xfe"


@pytest.fixture
async def deployment(embedded_stack: EmbeddedStack, tmp_path: Path) -> AsyncIterator[Deployment]:
    async with deployed(embedded_stack, "hostile", tmp_path) as deployment:
        yield deployment


def said(conversation_id: str, number: int, content: str, **fields: object) -> Event:
    value = {
        "conversation_id": conversation_id,
        "message_id": f"{conversation_id}-{number}",
        "role": "user",
        "timestamp": f"2026-03-02T09:00:{number:02d}+00:00",
        "content": content,
        "app_id": "notes",
        "user_id": "ada",
    }
    return Event(topics.MESSAGES, conversation_id, value | fields)


def ended(conversation_id: str) -> Event:
    value = {"conversation_id": conversation_id, "timestamp": "2026-03-02T09:10:00+00:00"}
    return Event(topics.ENDED, conversation_id, value)


async def publish_raw(deployment: Deployment, key: bytes | None, value: bytes | None, **options: str) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=deployment.settings.bootstrap_servers, max_request_size=50_000_000, **options
    )
    await producer.start()
    try:
        await producer.send_and_wait(deployment.topic(topics.MESSAGES), value, key=key, partition=0)
    finally:
        await producer.stop()


async def publish_header_without_a_name(deployment: Deployment) -> None:
    """Bytes that are no UTF-8 for a header's name, as clients in C can send: written into a finished batch."""
    producer = AIOKafkaProducer(bootstrap_servers=deployment.settings.bootstrap_servers)
    await producer.start()
    try:
        batch = producer.create_batch()
        batch.append(key=b"k", value=b"{}", timestamp=None, headers=[(PLACEHOLDER.decode(), b"x")])
        batch.close()
        data = bytearray(bytes(batch._build()).replace(PLACEHOLDER, NO_NAME))
        struct.pack_into(">I", data, 17, calc_crc32c(bytes(data[21:])))
        batch._buffer = bytes(data)
        await (await producer.send_batch(batch, deployment.topic(topics.MESSAGES), partition=0))
    finally:
        await producer.stop()


async def test_hostile_records_are_dead_lettered_by_position_and_the_conversation_goes_on(deployment: Deployment):
    worker = await deployment.worker()
    await deployment.publish(said("calm", 1, "I am allergic to peanuts."))
    await publish_raw(deployment, None, b"")
    await publish_header_without_a_name(deployment)
    large = json.dumps({"content": "x" * 6_000_000}).encode()
    assert len(gzip.compress(large)) < deployment.settings.max_message_bytes
    await publish_raw(deployment, b"large", large, compression_type="gzip")
    floats = "[" + ",".join(["1e15"] * 180_000) + "]"
    await deployment.publish(said("floats", 1, "here", tool_calls=[{"id": "1", "name": "n", "arguments": "PUT"}]))
    written_out = json.dumps(said("floats", 2, "here").value | {"metadata": {}})
    await publish_raw(
        deployment, b"floats", written_out.replace('"metadata": {}', f'"metadata": {{"a": {floats}}}').encode()
    )
    await deployment.publish(said("early", 1, "hello", timestamp="0001-01-01T00:00:00+10:00"))
    await deployment.publish(
        said("zone", 1, "I live in Porto, tomorrow I fly to Rome.", time_zone="America"), ended("zone")
    )
    await deployment.publish(said("calm", 2, "Thank you."), ended("calm"), ended("floats"))
    await deployment.settled()
    letters = await deployment.records(topics.DEAD_LETTERS)
    reasons = sorted(dict(letter.headers)["memstream-reason"].decode() for letter in letters)
    assert worker.running
    texts = [row["text"] for row in await deployment.fetch("SELECT text FROM memories ORDER BY text")]
    assert "User is allergic to peanuts." in texts
    assert any("Porto" in text for text in texts)
    assert reasons.count("too_large") == 2
    assert reasons.count("undecodable") == 2
    assert reasons.count("invalid") == 1


async def test_a_worker_that_cannot_go_on_ends_instead_of_lingering(deployment: Deployment):
    """What lingers would keep its partitions and do nothing with them."""
    worker = await deployment.worker()
    await deployment.fetch("DROP TABLE messages")
    await deployment.publish(said("calm", 1, "I am allergic to peanuts."))

    async def over() -> bool:
        return not worker.running

    await eventually(over, "the worker has ended", within_s=60.0)
    assert worker.exit_code not in (0, None)
