"""A worker calls a local Messages server once a slice, and its faults lose nothing."""

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata
from pydantic import SecretStr

from deploy.embedded.stack import EmbeddedStack
from schemas import codec
from schemas.conversations.messages import Scope
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.kafka import topics
from schemas.policies.policies import DEFAULT_POLICY
from streams.kafka.topics import STAGES
from tests.chaos.conversations import Conversation, conversation, events, marker
from tests.deployment import Deployment, Event, deployed, eventually, without_shared_calls
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

BEFORE_THE_CURATOR = ("windows", "archive", "extraction")


@pytest.fixture(scope="module")
def serving() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as server:
        yield server


@pytest.fixture
def server(serving: MessagesServer) -> MessagesServer:
    """The server without earlier requests."""
    serving.seen.clear()
    return serving


def asking(server: MessagesServer) -> dict[str, Any]:
    """Settings of a deployment that asks the server."""
    return {
        "provider": "claude",
        "claude_model": MODELS[0],
        "anthropic_base_url": server.url,
        "anthropic_api_key": SecretStr(KEY),
        "conversation_partitions": 2,
        "namespace_partitions": 2,
    }


@pytest.fixture
async def deployment(deploy: Any, server: MessagesServer, tmp_path: Path) -> Deployment:
    """Without a worker."""
    return await deploy("claude", policies_file=without_shared_calls(tmp_path), **asking(server))


@pytest.fixture(scope="module")
def served(
    embedded_stack: EmbeddedStack, serving: MessagesServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    """With a worker, for tests that leave it alone."""
    made = AsyncExitStack()
    with asyncio.Runner() as runner:
        try:
            directory = tmp_path_factory.mktemp("claude")
            alone = {"policies_file": without_shared_calls(directory), "session_timeout_s": 45.0}  # calls are counted
            deploying = deployed(embedded_stack, "claude", directory, **asking(serving), **alone)
            entering = made.enter_async_context(deploying)
            deployment = runner.run(entering)
            runner.run(deployment.worker())
            yield deployment
        finally:
            runner.run(made.aclose())


def said(first: int, count: int) -> list[Conversation]:
    """Conversations of one user each; tests that share a deployment begin with another number."""
    return [conversation(2 * number, 5, random.Random(number)) for number in range(first, first + count)]


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


def markers(talks: list[Conversation]) -> Counter[str]:
    return Counter(marker(talk.user_id) for talk in talks)


async def remembered(deployment: Deployment, talks: list[Conversation]) -> Counter[str]:
    """Live memories of the users of these conversations, by their markers."""
    users = [talk.user_id for talk in talks]
    rows = await deployment.fetch(
        "SELECT text FROM memories WHERE status = 'active' AND split_part(namespace, '/', 2) = ANY ($1)", users
    )
    return Counter(re.findall(r"Town\d+", row["text"])[0] for row in rows)


async def test_memories_are_created_with_one_call_per_slice(server: MessagesServer, served: Deployment):
    talks = said(100, 6)
    await served.publish(*published(*talks))
    await served.settled()
    assert await remembered(served, talks) == asked_about(server) == markers(talks)
    rows = await served.fetch("SELECT provider, model, usage FROM extractions WHERE answer IS NOT NULL")
    assert {(row["provider"], row["model"]) for row in rows} == {("claude", MODELS[0])}
    assert all(row["usage"]["input_tokens"] > 0 for row in rows)
    assert KEY not in served.logs()


@pytest.mark.heavy
async def test_requests_delivered_again_after_a_kill_are_answered_from_the_store(
    server: MessagesServer, deployment: Deployment
):
    """The worker dies when every answer is published and nothing is curated; then all requests are delivered once more."""
    talks = said(0, 6)
    worker = await deployment.worker("first", stages=BEFORE_THE_CURATOR)
    await deployment.publish(*published(*talks))

    async def published_once() -> bool:
        return len(await deployment.records(topics.CANDIDATES)) == len(talks)

    await eventually(published_once, "every answer is stored and published")
    worker.kill()
    await rewind(deployment, "extraction")
    await deployment.worker("second")
    await deployment.settled()
    assert await remembered(deployment, talks) == asked_about(server) == markers(talks)
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


@pytest.mark.heavy
async def test_an_answered_slice_is_not_requested_again_after_a_worker_was_killed_between_calls(
    server: MessagesServer, deployment: Deployment
):
    talks = said(0, 20)
    worker = await deployment.worker("first", extraction_concurrency=2)
    await deployment.publish(*published(*talks))

    async def some_answered() -> bool:
        (row,) = await deployment.fetch("SELECT count(answer) AS answers FROM extractions")
        return row["answers"] >= 3

    await eventually(some_answered, "three answers are stored")
    worker.kill()
    answered = await stored(deployment)
    await deployment.worker("second")
    await deployment.settled()
    assert await remembered(deployment, talks) == markers(talks)
    again = {name for name, calls in asked_about(server).items() if calls > 1}
    assert not again & answered, "asked again although the answer was stored"
    assert len(again) <= 2, "more calls than the killed worker had under way"
    assert max(asked_about(server).values()) <= 2


async def stored(deployment: Deployment) -> set[str]:
    """Markers of the users whose slices are answered."""
    rows = await deployment.fetch("SELECT answer FROM extractions WHERE answer IS NOT NULL")
    return {name for row in rows for name in re.findall(r"Town\d+", json.dumps(row["answer"]))}


async def test_a_burst_of_overload_and_rate_limits_delays_and_loses_nothing(server: MessagesServer, served: Deployment):
    talks, dead_letters = said(200, 6), len(await served.records(topics.DEAD_LETTERS))
    server.script(*["overloaded", "rate_limited"] * 15)
    await served.publish(*published(*talks))
    await served.settled()
    assert await remembered(served, talks) == markers(talks)
    assert len(server.seen) == 30 + len(talks)
    assert len(await served.records(topics.DEAD_LETTERS)) == dead_letters


async def test_a_refused_slice_becomes_a_dead_letter_and_is_released_by_its_window(
    server: MessagesServer, served: Deployment
):
    refused, later = said(300, 2)
    server.script("refusal")
    await served.publish(*published(refused))
    await served.settled()
    (letter,) = await served.records(topics.DEAD_LETTERS)
    assert letter.key == refused.conversation_id.encode()
    headers = {name: value.decode() for name, value in letter.headers}
    assert (headers["memstream-reason"], headers["memstream-stage"]) == ("refused", "extraction")
    assert headers["memstream-topic"] == served.topic(topics.REQUESTS)
    slice_ids = [message["message_id"] for message in json.loads(letter.value)["messages"]]
    assert slice_ids == [message.message_id for message in refused.messages]
    (row,) = await served.fetch("SELECT * FROM extractions WHERE conversation_id = $1", refused.conversation_id)
    assert (row["answer"], row["completed_at"]) == (None, None)
    assert "refused" in row["failed_reason"]
    assert await served.waiting_windows() == []

    await served.publish(*published(later))
    await served.settled()
    assert await remembered(served, [refused, later]) == markers([later])


def left(talk: Conversation, partition: int) -> ExtractionRequest:
    """The messages of a conversation on their way out of its context."""
    messages = tuple(
        SliceMessage(
            message_id=message.message_id,
            role=message.role,
            timestamp=message.timestamp,
            content=message.content,
            position=position,
        )
        for position, message in enumerate(talk.messages)
    )
    return ExtractionRequest(
        request_id=f"summary-of-{talk.conversation_id}",
        scope=Scope(conversation_id=talk.conversation_id),
        partition=partition,
        first=0,
        last=len(messages) - 1,
        policy=DEFAULT_POLICY.name,
        policy_version=DEFAULT_POLICY.version,
        namespaces=(),
        messages=messages,
        requested_at=talk.messages[-1].timestamp,
        purpose="summarise",
        summary="User plays chess.",
    )


async def test_a_summary_requested_twice_is_delivered_to_its_partition_from_one_call(
    server: MessagesServer, served: Deployment
):
    (talk,) = said(400, 1)
    proposed = len(await served.records(topics.CANDIDATES))
    for _ in range(2):
        await served.publish(Event(topics.REQUESTS, talk.conversation_id, codec.encode(left(talk, partition=1))))
        await served.settled()
    controls = [
        (record.partition, json.loads(record.value))
        for record in await served.records(topics.WINDOW_CONTROL)
        if record.key == talk.conversation_id.encode()
    ]
    assert [(partition, each["kind"], each["first"], each["last"]) for partition, each in controls] == 2 * [
        (1, "summarised", 0, len(talk.messages) - 1)
    ]
    first, second = (each["summary"] for _, each in controls)
    assert first == second
    assert first.startswith("User plays chess.") and marker(talk.user_id) in first
    assert len(server.seen) == 1
    assert len(await served.records(topics.CANDIDATES)) == proposed
    (row,) = await served.fetch("SELECT * FROM extractions WHERE conversation_id = $1", talk.conversation_id)
    assert (row["parts"], row["completed_at"], row["answer"]["text"]) == (0, None, first)
