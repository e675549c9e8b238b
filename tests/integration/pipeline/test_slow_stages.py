"""A blocked stage delays no other: each has its own consumer group, consumer and batches."""

import random
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from deploy.wiring import connections
from schemas.kafka import topics
from tests.chaos.conversations import APP, Conversation, conversations, interleaved
from tests.chaos.ledger import balance
from tests.deployment import Deployment, Event, eventually, without_shared_calls
from tests.servers.embeddings import MODEL, EmbeddingServer
from tests.servers.messages import KEY, MODELS, MessagesServer


def mixed(said: list[Conversation]) -> list[Event]:
    return [
        Event(record.topic, (record.key or b"").decode(), record.value)
        for record in interleaved(said, 50, random.Random(8))
    ]


def create(namespace: str, text: str) -> Event:
    value = {"command_id": "1", "kind": "create", "namespace": namespace, "at": "2026-03-02T09:00:00Z", "text": text}
    return Event(topics.COMMANDS, namespace, value)


async def everything_but_extraction_is_done(deployment: Deployment, said: list[Conversation]) -> None:
    """Every window has asked, every message is archived, every command is carried out, and no answer is there."""

    async def so() -> bool:
        lags = await deployment.lags()
        waiting = lags.pop("extraction")
        return not any(lags.values()) and waiting >= len(await deployment.records(topics.REQUESTS)) == len(said)

    await eventually(so, "all stages but extraction are done", 240.0)
    assert await deployment.count("messages") == sum(len(talk.messages) for talk in said)
    assert await deployment.fetch("SELECT * FROM extractions WHERE answer IS NOT NULL") == []


@pytest.mark.heavy
async def test_a_hanging_model_does_not_block_windows_archive_or_commands(deploy: Any, tmp_path: Path):
    """More requests wait than a worker takes on at a time, so that the extraction stage's own queue is full."""
    said = conversations(100, (2, 4), random.Random(80))
    asking = {"provider": "claude", "claude_model": MODELS[0], "anthropic_api_key": SecretStr(KEY), "model_rest_s": 3.0}
    async with MessagesServer() as hanging:

        async def all_slots_hang() -> bool:
            return len(hanging.seen) >= 4

        hanging.script(*["slow"] * 10_000)
        alone = without_shared_calls(tmp_path)
        deployment = await deploy(
            "slow", anthropic_base_url=hanging.url, extraction_concurrency=4, policies_file=alone, **asking
        )
        worker = await deployment.worker()
        await deployment.publish(*mixed(said[:80]))
        await everything_but_extraction_is_done(deployment, said[:80])
        await eventually(all_slots_hang, "as many calls hang as a worker makes at a time")
        await deployment.publish(*mixed(said[80:]), create(f"{APP}/{said[0].user_id}", "User keeps bees."))
        await everything_but_extraction_is_done(deployment, said)
        assert [row["text"] for row in await deployment.fetch("SELECT text FROM memories")] == ["User keeps bees."]
    async with MessagesServer(urlsplit(hanging.url).port or 0):
        await deployment.settled(300.0)
    assert worker.running
    await assert_balanced(deployment, said)


def held_passages(body: dict[str, Any]) -> str:
    """Holds embeddings of passages, which begin with their speakers."""
    return "held" if any(text.startswith(("user-", "assistant: ")) for text in body["input"]) else "rules"


@pytest.mark.heavy
async def test_a_hanging_embedder_of_passages_blocks_no_other_stage(deploy: Any, tmp_path: Path):
    said = conversations(20, (2, 4), random.Random(81))
    async with EmbeddingServer() as server:
        server.choose = held_passages
        embedding = {"embedder": "openai", "embedder_model": MODEL, "embedder_base_url": server.openai_url}
        deployment = await deploy("passages-hang", policies_file=without_shared_calls(tmp_path), **embedding)
        await deployment.worker()
        await deployment.publish(*mixed(said))

        async def others_are_done() -> bool:
            lags = await deployment.lags()
            return lags.pop("passages") > 0 and not any(lags.values()) and not await deployment.waiting_windows()

        await eventually(others_are_done, "all stages but passages are done", 240.0)
        extracted = await deployment.fetch("SELECT FROM extractions WHERE completed_at IS NOT NULL")
        assert len(extracted) == len(said) and await deployment.count("passages") == 0
        server.choose = None
        server.let_go()
        await deployment.settled()
        await assert_balanced(deployment, said)


async def assert_balanced(deployment: Deployment, said: list[Conversation]) -> None:
    async with connections.postgres(deployment.settings, max_size=2) as pool:
        ledger = await balance(deployment.settings, pool, said)
    assert (ledger.lost, ledger.duplicated) == ([], [])
