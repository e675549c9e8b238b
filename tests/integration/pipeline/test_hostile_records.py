"""Malformed records are dead-lettered with their position, and processing continues."""

import gzip
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from agents.dead_letters.writer import dead_letter_headers
from deploy.embedded.stack import EmbeddedStack
from schemas.kafka import topics
from streams.kafka.topics import STAGES
from tests.builders.chat_events import end, message
from tests.deployment import Deployment, Event, deployed, eventually
from tests.raw_records import UNNAMED, Raw, publish_batch

IN_A_ROW = 200


# What no stage can read, with the reason that its dead letter gives.
HALF_AN_EMOJI = Raw(b'{"conversation_id": "\\ud83d"}')
DEEP = Raw(b"[" * 5_000 + b"]" * 5_000)
POISON = (
    ("undecodable", Raw(b"not json at all")),
    ("undecodable", Raw(b'{"conversation_id": "cut of')),
    ("undecodable", Raw(None)),
    ("undecodable", Raw(None, key=None)),
    ("undecodable", Raw(b"", key=None)),
    ("undecodable", Raw(b"\x80\x81\x82")),
    ("undecodable", Raw("{}".encode("utf-16"))),
    ("invalid", HALF_AN_EMOJI),
    ("undecodable", Raw(b'{"conversation_id": NaN}')),
    ("undecodable", DEEP),
    ("invalid", Raw(b"null")),
    ("invalid", Raw(b"17", headers=(("trace", None), ("trace", b"\xff")))),
    ("invalid", Raw(b'["a", "list"]', key=b"\xff\xfe")),
    ("invalid", Raw(b"{}")),
    ("invalid", Raw(b"{}", headers=UNNAMED)),
    ("invalid", Raw(b'{"conversation_id": "c", "namespace": "n"}')),
    ("invalid", Raw(b'{"conversation_id": 17, "namespace": [], "request_id": {}, "command_id": null}')),
    ("invalid", Raw(b'{"conversation_id": null, "kind": 7}', headers=(("memstream-reason", b"a lie"),))),
    ("invalid", Raw(b"[" * 200 + b"]" * 200)),
    ("invalid", Raw(b'{"metadata": ' + b'{"a": ' * 150 + b"1" + b"}" * 151)),
)


@pytest.fixture
async def deployment(embedded_stack: EmbeddedStack, tmp_path: Path) -> AsyncIterator[Deployment]:
    async with deployed(embedded_stack, "hostile", tmp_path) as deployment:
        yield deployment


def said(conversation_id: str, number: int, content: str, **fields: object) -> Event:
    whose = {"app_id": "notes", "user_id": "ada", "timestamp": f"2026-03-02T09:00:{number:02d}+00:00"}
    return message(conversation_id, number, content, **(whose | fields))


def ended(conversation_id: str) -> Event:
    return end(conversation_id, at="2026-03-02T09:10:00+00:00")


async def publish_raw(deployment: Deployment, key: bytes | None, value: bytes | None, **options: str) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=deployment.settings.bootstrap_servers, max_request_size=50_000_000, **options
    )
    await producer.start()
    try:
        await producer.send_and_wait(deployment.topic(topics.MESSAGES), value, key=key, partition=0)
    finally:
        await producer.stop()


async def publish_in_a_row(deployment: Deployment, topic: str, records: Sequence[Raw]) -> int:
    return await publish_batch(deployment.settings.bootstrap_servers, deployment.topic(topic), records)


async def test_hostile_records_are_dead_lettered_by_position_and_the_conversation_goes_on(deployment: Deployment):
    worker = await deployment.worker()
    await deployment.publish(said("calm", 1, "I am allergic to peanuts."))
    await publish_raw(deployment, None, b"")
    await publish_in_a_row(deployment, topics.MESSAGES, [Raw(b"{}", headers=UNNAMED)])
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
    await deployment.publish(said("nul\x00", 1, "I live in Lisbon."), ended("nul\x00"))
    await deployment.publish(said("calm", 2, "Thank you."), ended("calm"), ended("floats"))
    await deployment.settled()
    dead_letters = await deployment.records(topics.DEAD_LETTERS)
    reasons = sorted(dict(letter.headers)["memstream-reason"].decode() for letter in dead_letters)
    assert worker.running
    texts = [row["text"] for row in await deployment.fetch("SELECT text FROM memories ORDER BY text")]
    assert "User is allergic to peanuts." in texts
    assert any("Porto" in text for text in texts)
    assert "User lives in Lisbon." in texts
    assert reasons.count("too_large") == 2
    assert reasons.count("undecodable") == 1
    assert reasons.count("invalid") == 2


@pytest.mark.heavy
async def test_two_hundred_poison_records_in_a_row_stop_no_stage(deploy: Any):
    """In every topic that a stage reads. Each becomes one dead letter, and what lies behind them in their batch is processed."""
    deployment = await deploy("poison", conversation_partitions=1, namespace_partitions=1)
    worker = await deployment.worker()
    await deployment.publish(said("calm", 1, "I am allergic to peanuts."))
    create = {"command_id": "1", "kind": "create", "namespace": "notes/bob", "at": "2026-03-02T09:00:00Z"}
    good = [
        said("calm", 2, "I live in Porto."),
        ended("calm"),
        Event(topics.COMMANDS, "notes/bob", create | {"text": "User keeps bees."}),
    ]
    poison = list(islice(cycle(POISON), IN_A_ROW))
    expected: Counter[tuple[str, int, str]] = Counter()
    for topic in {topic for read in STAGES.values() for topic in read}:
        behind = [Raw(event.bytes, event.key.encode(), UNNAMED) for event in good if event.topic == topic]
        first = await publish_in_a_row(deployment, topic, [*(raw for _, raw in poison), *behind])
        # Our own requests may nest more deeply than what comes in, and no half of an emoji is replaced in them.
        own = {DEEP: "invalid", HALF_AN_EMOJI: "undecodable"} if topic == topics.REQUESTS else {}
        reasons = [own.get(raw, reason) for reason, raw in poison]
        expected += Counter((deployment.topic(topic), first + at, reason) for at, reason in enumerate(reasons))
    await deployment.settled()
    assert worker.running
    dead_letters = [dead_letter_headers(letter.headers) for letter in await deployment.records(topics.DEAD_LETTERS)]
    assert Counter((each["topic"], int(each["offset"]), each["reason"]) for each in dead_letters) == expected
    assert {each["partition"] for each in dead_letters} == {"0"}
    assert all(each["detail"] and each["stage"] for each in dead_letters)
    texts = [row["text"] for row in await deployment.fetch("SELECT text FROM memories ORDER BY text")]
    assert texts == ["User is allergic to peanuts.", "User keeps bees.", "User lives in Porto."]


async def test_a_worker_that_cannot_continue_exits(deployment: Deployment):
    """A worker that stayed would keep its partitions without processing them."""
    worker = await deployment.worker()
    await deployment.fetch("DROP TABLE messages CASCADE")
    await deployment.publish(said("calm", 1, "I am allergic to peanuts."))

    async def over() -> bool:
        return not worker.running

    await eventually(over, "the worker has ended", within_s=60.0)
    assert worker.exit_code not in (0, None)
