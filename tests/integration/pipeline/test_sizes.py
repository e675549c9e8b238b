"""Messages up to the broker's limit pass through the pipeline; larger ones are rejected or dead-lettered."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import MessageSizeTooLargeError
from aiokafka.structs import RecordMetadata

from agents.dead_letters.writer import MAX_COPIED_BYTES, dead_letter_headers
from schemas import codec
from schemas.conversations.messages import ConversationEnded, Message
from schemas.kafka import topics
from tests.chaos.conversations import BEGAN
from tests.deployment import Deployment, Event

RECORD_OVERHEAD = 72  # bytes that a batch of one record without headers has besides its key and its value
STATEMENT = "I am allergic to peanuts. "
REMEMBERED = "User is allergic to peanuts."
FILLINGS = {
    "words": "Does the lazy dog sleep in the sun while the quick fox jumps? ",
    "one-word": "z",
    "four-bytes-a-character": "🦊",
    "escaped": '"\\\n',
}


def message(name: str, size: int, filling: str = "z") -> bytes:
    """A message of exactly `size` bytes as JSON: a statement worth remembering, then the filling."""
    room = size - len(encoded(name, STATEMENT))
    repeated = filling * (room // (len(codec.encode(filling)) - 2))
    return encoded(name, (STATEMENT + repeated).ljust(len(STATEMENT + repeated) + room - json_bytes(repeated), "x"))


def json_bytes(text: str) -> int:
    return len(codec.encode(text)) - 2


def encoded(name: str, content: str) -> bytes:
    return codec.encode(
        Message(
            conversation_id=name,
            message_id=f"{name}-1",
            role="user",
            timestamp=BEGAN,
            content=content,
            app_id="notes",
            user_id=name,
        )
    )


def ended(name: str) -> Event:
    return Event(topics.ENDED, name, codec.encode(ConversationEnded(conversation_id=name, timestamp=BEGAN)))


@asynccontextmanager
async def careless_producer(deployment: Deployment) -> AsyncIterator[AIOKafkaProducer]:
    """One that leaves it to the broker to refuse what is too large."""
    producer = AIOKafkaProducer(
        bootstrap_servers=deployment.settings.bootstrap_servers, max_request_size=50_000_000, max_batch_size=1
    )
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def raise_limit(deployment: Deployment, max_bytes: int) -> None:
    """Raises the topic's limit as an operator would, without configuring memstream."""
    admin = AIOKafkaAdminClient(bootstrap_servers=deployment.settings.bootstrap_servers)
    await admin.start()
    try:
        limit = {"max.message.bytes": str(max_bytes)}
        topic = ConfigResource(ConfigResourceType.TOPIC, deployment.topic(topics.MESSAGES), limit)
        await admin.alter_configs([topic])
    finally:
        await admin.close()


@pytest.mark.heavy
async def test_the_largest_messages_accepted_by_the_broker_are_archived_and_extracted(deploy: Any):
    deployment = await deploy("large", conversation_partitions=1)
    limit, topic = deployment.settings.max_message_bytes, deployment.topic(topics.MESSAGES)
    largest = {name: message(name, limit - RECORD_OVERHEAD - len(name), filling) for name, filling in FILLINGS.items()}
    worker = await deployment.worker()
    async with careless_producer(deployment) as producer:
        for name, value in largest.items():
            with pytest.raises(MessageSizeTooLargeError):
                await producer.send_and_wait(topic, message(name, len(value) + 1), name.encode())
            await producer.send_and_wait(topic, value, name.encode())
    await deployment.publish(*map(ended, largest))
    await deployment.settled(300.0)
    assert worker.running
    assert await deployment.records(topics.DEAD_LETTERS) == []
    sent = {name: codec.decode(value, Message).content for name, value in largest.items()}
    rows = await deployment.fetch("SELECT conversation_id, content FROM messages")
    assert {row["conversation_id"]: row["content"] for row in rows} == sent
    requests = await deployment.values(topics.REQUESTS)
    assert {request["scope"]["conversation_id"]: request["messages"][0]["content"] for request in requests} == sent
    remembered = await deployment.fetch("SELECT namespace, text FROM memories")
    assert {row["namespace"]: row["text"] for row in remembered} == {f"notes/{name}": REMEMBERED for name in sent}


@pytest.mark.heavy
async def test_messages_above_the_size_limit_become_dead_letters_and_the_partition_continues(deploy: Any):
    """The last of them is larger than what memstream fetches at a time."""
    deployment = await deploy("above", conversation_partitions=1)
    limit, topic = deployment.settings.max_message_bytes, deployment.topic(topics.MESSAGES)
    await raise_limit(deployment, 8 * limit)
    above = [message("above", size) for size in (limit + 1, MAX_COPIED_BYTES + 1, 5 * limit)]
    good = {f"good-{number}": message(f"good-{number}", size) for number, size in enumerate([limit, 1_000, 1_000, 999])}
    worker = await deployment.worker()
    at: list[RecordMetadata] = []
    async with careless_producer(deployment) as producer:
        for name, value in good.items():
            await producer.send_and_wait(topic, value, name.encode())
            at += [await producer.send_and_wait(topic, each, b"above") for each in above[len(at) : len(at) + 1]]
    await deployment.publish(*map(ended, good))
    await deployment.settled(300.0)
    assert worker.running
    dead_letters = await deployment.records(topics.DEAD_LETTERS)
    said = [dead_letter_headers(letter.headers) for letter in dead_letters]
    assert [(each["reason"], each["stage"]) for each in said] == [("too_large", "windows")] * len(above)
    assert [(each["topic"], each["partition"], each["offset"]) for each in said] == [
        (topic, str(meta.partition), str(meta.offset)) for meta in at
    ]
    assert all(str(limit) in each["detail"] for each in said)
    assert [letter.value for letter in dead_letters] == [above[0], None, None]
    assert [each.get("by-reference") for each in said] == [None, "true", "true"]
    remembered = await deployment.fetch("SELECT namespace, text FROM memories")
    assert {row["namespace"]: row["text"] for row in remembered} == {f"notes/{name}": REMEMBERED for name in good}
