"""A worker that asks Claude, here a local Messages server: one call a slice whatever happens, nothing lost to its faults."""

import json
import random
import re
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata

from schemas import topics
from streams.apps import STAGES
from tests.chaos.conversations import Conversation, conversations, events, marker
from tests.deployment import Deployment, Event, eventually
from tests.messages_server import KEY, MODELS, MessagesServer

BEFORE_THE_CURATOR = ("windows", "archive", "extraction")


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    async with MessagesServer() as server:
        yield server


@pytest.fixture
async def deployment(deploy: Any, server: MessagesServer) -> Deployment:
    chosen = {"provider": "claude", "claude_model": MODELS[0], "anthropic_base_url": server.url}
    deployment: Deployment = await deploy("claude", **chosen)
    key = type(deployment.settings.postgres_dsn)(KEY)
    deployment.settings = deployment.settings.model_copy(update={"anthropic_api_key": key})
    return deployment


def said(count: int) -> list[Conversation]:
    """Conversations of one user each."""
    return conversations(2 * count, (4, 6), random.Random(7))[::2]


def published(*conversations: Conversation) -> list[Event]:
    return [
        Event(record.topic, (record.key or b"").decode(), record.value)
        for each in conversations
        for record in events(each)
    ]


def asked_about(server: MessagesServer) -> Counter[str]:
    """Calls by what they asked about: the marker of the user in the transcript."""
    return Counter(
        re.findall(r"Town\d+", json.dumps(body["messages"]).rpartition("<transcript>")[2])[0] for body in server.seen
    )


async def remembered(deployment: Deployment) -> Counter[str]:
    rows = await deployment.fetch("SELECT text FROM memories WHERE status = 'active'")
    return Counter(re.findall(r"Town\d+", row["text"])[0] for row in rows)


async def test_memories_arrive_with_one_call_a_slice(server: MessagesServer, deployment: Deployment):
    talks = said(6)
    await deployment.worker()
    await deployment.publish(*published(*talks))
    await deployment.settled()
    wanted = Counter(marker(talk.user_id) for talk in talks)
    assert await remembered(deployment) == wanted
    assert asked_about(server) == wanted
    rows = await deployment.fetch("SELECT provider, model, usage FROM extractions")
    assert {(row["provider"], row["model"]) for row in rows} == {("claude", MODELS[0])}
    assert all(row["usage"]["input_tokens"] > 0 for row in rows)
    assert KEY not in deployment.logs()


async def test_requests_delivered_again_after_a_kill_are_answered_from_the_store(
    server: MessagesServer, deployment: Deployment
):
    """The worker dies when every answer is stored and nothing is curated; then all requests are delivered once more."""
    talks = said(6)
    worker = await deployment.worker("first", stages=BEFORE_THE_CURATOR)
    await deployment.publish(*published(*talks))

    async def answered() -> bool:
        (row,) = await deployment.fetch("SELECT count(answer) AS answers FROM extractions")
        return row["answers"] == len(talks)

    await eventually(answered, "every answer is stored")
    worker.kill()
    await rewind(deployment, "extraction")
    await deployment.worker("second")
    await deployment.settled()
    wanted = Counter(marker(talk.user_id) for talk in talks)
    assert asked_about(server) == wanted
    assert await remembered(deployment) == wanted
    batches = [(batch["request_id"], batch["part"]) for batch in await deployment.values(topics.CANDIDATES)]
    assert set(Counter(batches).values()) == {2}, "each answer was published by both workers"
    assert all(row["reinforcement_count"] == 0 for row in await deployment.fetch("SELECT * FROM memories"))


async def rewind(deployment: Deployment, stage: str) -> None:
    """Sets a group back to the beginning, once the member that was killed has been given up."""
    counts = deployment.settings.topics()
    tps = [
        TopicPartition(deployment.topic(name), number)
        for name in STAGES[stage]
        for number in range(counts.conversation_partitions)
    ]

    async def committed() -> bool:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=deployment.settings.bootstrap_servers,
            group_id=deployment.group(stage),
            enable_auto_commit=False,
        )
        await consumer.start()
        try:
            consumer.assign(tps)
            await consumer.commit({tp: OffsetAndMetadata(0, "") for tp in tps})
        except KafkaError:
            return False
        finally:
            await consumer.stop()
        return True

    await eventually(committed, f"the group of {stage} can be rewound", 30)


async def test_no_slice_that_was_answered_is_asked_again_when_the_worker_is_killed_among_calls(
    server: MessagesServer, deployment: Deployment
):
    talks = said(20)
    worker = await deployment.worker("first", extraction_concurrency=2)
    await deployment.publish(*published(*talks))

    async def some_answered() -> bool:
        (row,) = await deployment.fetch("SELECT count(answer) AS answers FROM extractions")
        return row["answers"] >= 3

    await eventually(some_answered, "three answers are stored")
    worker.kill()
    in_flight = set(asked_about(server)) - await stored(deployment)
    await deployment.worker("second")
    await deployment.settled()
    wanted = Counter(marker(talk.user_id) for talk in talks)
    assert await remembered(deployment) == wanted
    again = {name for name, calls in asked_about(server).items() if calls > 1}
    assert again <= in_flight, "asked again although the answer was stored"
    assert len(in_flight) <= 2
    assert max(asked_about(server).values()) <= 2


async def stored(deployment: Deployment) -> set[str]:
    """Markers of the users whose slices are answered."""
    rows = await deployment.fetch("SELECT answer FROM extractions WHERE answer IS NOT NULL")
    return {name for row in rows for name in re.findall(r"Town\d+", json.dumps(row["answer"]))}


async def test_a_burst_of_overload_and_rate_limits_delays_and_loses_nothing(
    server: MessagesServer, deployment: Deployment
):
    talks = said(6)
    server.script(*["overloaded", "rate_limited"] * 15)
    await deployment.worker()
    await deployment.publish(*published(*talks))
    await deployment.settled()
    assert await remembered(deployment) == Counter(marker(talk.user_id) for talk in talks)
    assert len(server.seen) == 30 + len(talks)
    assert await deployment.records(topics.DEAD_LETTERS) == []


async def test_a_refused_slice_is_a_dead_letter_and_its_window_lets_go(server: MessagesServer, deployment: Deployment):
    refused, later = said(2)
    await deployment.worker()
    server.script("refusal")
    await deployment.publish(*published(refused))
    await deployment.settled()
    (letter,) = await deployment.records(topics.DEAD_LETTERS)
    told = {name: value.decode() for name, value in letter.headers}
    assert (told["memstream-reason"], told["memstream-stage"]) == ("refused", "extraction")
    assert told["memstream-topic"] == deployment.topic(topics.REQUESTS)
    slice_ids = [message["message_id"] for message in json.loads(letter.value)["messages"]]
    assert slice_ids == [message.message_id for message in refused.messages]
    (row,) = await deployment.fetch("SELECT * FROM extractions")
    assert (row["answer"], row["completed_at"]) == (None, None)
    assert "refused" in row["failed_reason"]
    assert await deployment.waiting_windows() == []

    await deployment.publish(*published(later))
    await deployment.settled()
    assert await remembered(deployment) == Counter([marker(later.user_id)])
