"""Conversations are extracted whole and once with other partitioners, transactions, and end events ahead of
messages."""

import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.partitioner import DefaultPartitioner
from confluent_kafka import Producer
from msgspec.structs import replace

from deploy.wiring import connections
from schemas import codec
from schemas.conversations.messages import ConversationEnded
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from tests.chaos.conversations import Conversation, conversation, conversations, events, interleaved
from tests.chaos.ledger import balance
from tests.deployment import Deployment, Event, eventually

PARTITIONS = 6
FLUSHED_WITHIN_S = 60.0


class Librdkafka:
    """The producer that most chat services outside of Java use. It places keys by CRC32, where Java's uses murmur2."""

    def __init__(self, deployment: Deployment, **options: Any) -> None:
        named = {name.replace("_", "."): value for name, value in options.items()}
        self._producer = Producer({"bootstrap.servers": deployment.settings.bootstrap_servers} | named)
        self._deployment = deployment
        if "transactional.id" in named:
            self._producer.init_transactions(FLUSHED_WITHIN_S)

    def send(self, records: Iterable[Outgoing]) -> None:
        """Returns when the broker has all of them."""
        refused: list[object] = []
        for record in records:
            self._producer.produce(
                self._deployment.topic(record.topic),
                record.value,
                record.key,
                on_delivery=lambda error, _: refused.append(error) if error else None,
            )
        left = self._producer.flush(FLUSHED_WITHIN_S)
        assert (left, refused) == (0, [])

    def begin(self) -> None:
        self._producer.begin_transaction()

    def commit(self) -> None:
        self._producer.commit_transaction(FLUSHED_WITHIN_S)

    def abort(self) -> None:
        self._producer.abort_transaction(FLUSHED_WITHIN_S)


async def assert_balanced(deployment: Deployment, said: list[Conversation]) -> None:
    """Everything is processed: whole conversations, once, and nothing else."""
    await deployment.settled(300.0)
    async with connections.postgres(deployment.settings, max_size=2) as pool:
        ledger = await balance(deployment.settings, pool, said)
    assert (ledger.lost, ledger.duplicated) == ([], [])


async def partitions_by_key(deployment: Deployment, topic: str) -> dict[bytes, set[int]]:
    found: dict[bytes, set[int]] = defaultdict(set)
    for record in await deployment.records(topic):
        found[record.key].add(record.partition)
    return found


@pytest.mark.heavy
async def test_conversations_partitioned_by_crc32_stay_in_their_partition_in_every_stage(deploy: Any):
    deployment = await deploy("crc32", conversation_partitions=PARTITIONS)
    said = conversations(40, (4, 10), random.Random(32))
    producer = Librdkafka(deployment)
    await asyncio.to_thread(producer.send, list(interleaved(said, 20, random.Random(1))))
    placed = await partitions_by_key(deployment, topics.MESSAGES)
    assert {len(where) for where in placed.values()} == {1}
    assert await partitions_by_key(deployment, topics.ENDED) == placed
    murmur2 = {key: {DefaultPartitioner()(key, list(range(PARTITIONS)), None)} for key in placed}
    assert sum(murmur2[key] != placed[key] for key in placed) > len(placed) // 2, "these keys prove nothing"

    await deployment.worker()
    await assert_balanced(deployment, said)
    assert await partitions_by_key(deployment, topics.REQUESTS) == placed
    assert await partitions_by_key(deployment, topics.WINDOW_CONTROL) == placed
    proposed = await deployment.values(topics.CANDIDATES)
    assert {batch["conversation_id"].encode(): {batch["partition"]} for batch in proposed} == placed
    rows = await deployment.fetch("SELECT conversation_id, partition FROM extractions")
    assert {row["conversation_id"].encode(): {row["partition"]} for row in rows} == placed


def parts(records: Sequence[Outgoing], size: int) -> list[Sequence[Outgoing]]:
    return [records[start : start + size] for start in range(0, len(records), size)]


def taken_back(part: Sequence[Outgoing], number: int) -> list[Outgoing]:
    """Returns records that a chat service publishes and aborts: another message of each conversation of a part, and its
    end."""
    given: list[Outgoing] = []
    for key in sorted({record.key for record in part}):
        name = key.decode()
        (first, *_) = conversation(int(name.rpartition("-")[2]), 1, random.Random(0)).messages
        message = replace(first, message_id=f"{name}-aborted-{number}", content="I live in Nowhere.")
        end = ConversationEnded(conversation_id=name, timestamp=first.timestamp)
        given.append(Outgoing(topic=topics.MESSAGES, key=key, value=codec.encode(message)))
        given.append(Outgoing(topic=topics.ENDED, key=key, value=codec.encode(end)))
    return given


def publish_in_transactions(deployment: Deployment, records: Sequence[Outgoing]) -> None:
    """Each part in a transaction that is committed, then one that is aborted: so every partition ends in markers."""
    producer = Librdkafka(deployment, transactional_id=f"chat-{uuid4()}")
    for number, part in enumerate(parts(records, 25)):
        producer.begin()
        producer.send(part)
        producer.commit()
        producer.begin()
        producer.send(taken_back(part, number))
        producer.abort()
    producer.begin()
    producer.send(taken_back(records, len(records)))
    producer.abort()


async def uncommitted_ids(deployment: Deployment) -> set[str]:
    """Ids of all messages in the log, aborted ones included."""
    tps = [
        TopicPartition(deployment.topic(topics.MESSAGES), number)
        for number in range(deployment.settings.conversation_partitions)
    ]
    consumer = AIOKafkaConsumer(
        bootstrap_servers=deployment.settings.bootstrap_servers, auto_offset_reset="earliest", enable_auto_commit=False
    )
    await consumer.start()
    try:
        consumer.assign(tps)
        ends, found = await consumer.end_offsets(tps), set()
        while any([await consumer.position(tp) < ends[tp] for tp in tps]):
            for records in (await consumer.getmany(timeout_ms=100)).values():
                found |= {json.loads(record.value)["message_id"] for record in records}
        return found
    finally:
        await consumer.stop()


@pytest.mark.heavy
async def test_aborted_messages_are_ignored_and_committed_ones_are_processed_once(deploy: Any):
    deployment = await deploy("aborts", conversation_partitions=3)
    said = conversations(30, (4, 10), random.Random(4))
    sent = {message.message_id for talk in said for message in talk.messages}
    plain = {talk.conversation_id.encode(): plain_end(talk) for talk in said[::2]}
    records = [
        plain.get(record.key, record) if record.topic == topics.ENDED else record
        for record in interleaved(said, 10, random.Random(2))
    ]
    await deployment.worker()
    await asyncio.to_thread(publish_in_transactions, deployment, records)
    aborted = await uncommitted_ids(deployment) - sent
    assert len(aborted) > len(said), "nothing was aborted"
    await assert_balanced(deployment, said)
    assert set((await deployment.lags()).values()) == {0}
    requested = [message for request in await deployment.values(topics.REQUESTS) for message in request["messages"]]
    assert sorted(message["message_id"] for message in requested) == sorted(sent)
    texts = [row["text"] for row in await deployment.fetch("SELECT text FROM memories")]
    assert texts
    assert not [text for text in texts if "Nowhere" in text]


@pytest.mark.heavy
async def test_an_end_event_waits_for_messages_behind_an_open_transaction(deploy: Any):
    """Readers of committed records see nothing behind an open transaction: to them the partition ends before it."""
    deployment = await deploy("open", conversation_partitions=1)
    talk, other = conversations(4, (8, 8), random.Random(5))[::2]
    *messages, _ = events(talk)
    *others, other_end = events(other)
    half = len(messages) // 2
    plain, transactional = Librdkafka(deployment), Librdkafka(deployment, transactional_id=f"chat-{uuid4()}")
    await deployment.worker()
    await asyncio.to_thread(plain.send, messages[:half])
    await nothing_to_read(deployment)
    transactional.begin()
    await asyncio.to_thread(transactional.send, others)
    await asyncio.to_thread(plain.send, messages[half:])
    await asyncio.to_thread(plain.send, [plain_end(talk)])
    await nothing_to_read(deployment)
    await asyncio.to_thread(transactional.commit)
    await asyncio.to_thread(plain.send, [other_end])
    await assert_balanced(deployment, [talk, other])


async def nothing_to_read(deployment: Deployment) -> None:
    """Until the windows stage has read everything that is visible to it."""

    async def read() -> bool:
        return (await deployment.lags())["windows"] == 0

    await eventually(read, "the windows stage has read everything", 120.0)


def plain_end(talk: Conversation) -> Outgoing:
    """The end of a conversation, as services publish it that count nothing."""
    end = ConversationEnded(conversation_id=talk.conversation_id, timestamp=talk.end().timestamp)
    return Outgoing(topic=topics.ENDED, key=talk.conversation_id.encode(), value=codec.encode(end))


def as_events(records: Iterable[Outgoing]) -> list[Event]:
    return [Event(record.topic, (record.key or b"").decode(), record.value) for record in records]


@pytest.mark.heavy
async def test_end_events_read_before_a_backlog_of_messages_do_not_split_conversations(deploy: Any):
    """Every other end says how many messages there are; the rest wait for what was there when they arrived."""
    deployment = await deploy("backlog")
    said = conversations(50, (80, 120), random.Random(6))
    by_topic = defaultdict(list)
    for record in interleaved(said, 50, random.Random(7)):
        by_topic[record.topic].append(record)
    ends = [plain_end(talk) if number % 2 else events(talk)[-1] for number, talk in enumerate(said)]
    assert len(by_topic[topics.MESSAGES]) > 2_000
    await deployment.publish(*as_events([*ends, *by_topic[topics.MESSAGES]]))
    await deployment.worker()
    await assert_balanced(deployment, said)


@pytest.mark.heavy
async def test_end_events_that_arrive_before_their_messages_wait_for_all_of_them(deploy: Any, tmp_path: Path):
    patient = tmp_path / "patient.json"
    patient.write_text(json.dumps([{"name": "patient", "straggler_wait_s": 600.0}]))
    deployment = await deploy("ahead", policies_file=patient)
    said = conversations(50, (40, 44), random.Random(8))
    messages = [record for record in interleaved(said, 50, random.Random(9)) if record.topic == topics.MESSAGES]
    await deployment.worker()
    await deployment.publish(*as_events(events(talk)[-1] for talk in said))
    await nothing_to_read(deployment)
    assert len(await deployment.waiting_windows()) == len(said)
    for part in parts(messages, len(messages) // 2 + 1):
        assert await deployment.count("extractions") == 0
        await deployment.publish(*as_events(part))
        await nothing_to_read(deployment)
    await assert_balanced(deployment, said)
