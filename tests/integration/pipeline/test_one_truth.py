"""Concurrent duplicates become one memory per namespace."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from schemas.kafka import topics
from tests.builders.proposals import candidates, command, curated
from tests.deployment import Deployment, Event, eventually
from tests.integration.pipeline.test_workers import group

SPELLINGS = ("User plays the cello.", "user plays the CELLO", "User  plays the cello!", "User plays the cello")
WORDINGS = (
    "User likes to hike in the mountains every weekend",
    "The user likes to hike in the mountains every weekend",
    "User likes to hike in the mountains every weekend.",
    "User likes hiking in the mountains every weekend",
)


async def publish_anywhere(deployment: Deployment, said: Sequence[Event]) -> None:
    """Over both partitions by turns, as clients do that partition in different ways; all in flight at once."""
    async with AIOKafkaProducer(bootstrap_servers=deployment.settings.bootstrap_servers) as producer:
        sent = [
            await producer.send(deployment.topic(each.topic), each.bytes, each.key.encode(), partition=number % 2)
            for number, each in enumerate(said)
        ]
        await asyncio.gather(*sent)


@pytest.fixture
async def shared(deploy: Any) -> Deployment:
    """Two workers, each with one partition of the candidates and of the commands."""
    deployment: Deployment = await deploy("one-truth", namespace_partitions=2)
    workers = [deployment.start_worker(name, stages=["curation"]) for name in ("one", "two")]
    await asyncio.gather(*(worker.wait_ready() for worker in workers))

    async def both() -> bool:
        return await group(deployment, "curation") == ("Stable", 2)

    await eventually(both, "two workers share the partitions")
    return deployment


async def assert_one_memory(deployment: Deployment, namespace: str, said: int) -> None:
    """Checks that `said` candidates and commands became one memory in every store, with a version and an event each."""
    snapshot = await deployment.snapshot()
    (memory,) = snapshot.memories(namespace)
    assert (memory["status"], memory["version"], memory["reinforcement_count"]) == ("active", said, said - 1)
    versions = [row for row in snapshot.rows["memory_versions"] if row["namespace"] == namespace]
    assert sorted(row["version"] for row in versions) == list(range(1, said + 1))
    events = [event["data"] for event in snapshot.values(topics.EVENTS) if event["data"]["namespace"] == namespace]
    assert [event["sequence"] for event in events] == list(range(1, said + 1))
    assert [event["change"] for event in events] == ["created"] + ["reinforced"] * (said - 1)
    states = [value for value in snapshot.values(topics.STATE) if value["namespace"] == namespace]
    assert [state["version"] for state in states] == list(range(1, said + 1))
    points = [name for name, (payload, _) in snapshot.points.items() if payload["namespace"] == namespace]
    assert points == [memory["memory_id"]]


@pytest.mark.heavy
async def test_twenty_concurrent_repetitions_as_candidates_and_commands_create_one_memory(
    shared: Deployment,
) -> None:
    """A command's text is second-guessed up to its spelling only, so these differ in that; candidates may in their words."""
    spelled = [candidates("n/spelled", SPELLINGS[number % 4]) for number in range(14)]
    spelled += [command("create", "n/spelled", text=SPELLINGS[number % 4]) for number in range(6)]
    worded = [candidates("n/worded", WORDINGS[number % 4]) for number in range(20)]
    said = spelled + worded
    random.Random(20).shuffle(said)
    await publish_anywhere(shared, said)
    await curated(shared, 120)
    assert [letter.value for letter in await shared.records(topics.DEAD_LETTERS)] == []
    for topic in (topics.CANDIDATES, topics.COMMANDS):
        assert {record.partition for record in await shared.records(topic)} == {0, 1}
    await assert_one_memory(shared, "n/spelled", 20)
    await assert_one_memory(shared, "n/worded", 20)
