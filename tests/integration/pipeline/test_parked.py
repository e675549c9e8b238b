"""Requests that wait long leave Kafka without lag, wait in PostgreSQL, and are completed by any worker."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from schemas.kafka import topics
from tests.chaos.conversations import Conversation, conversation, events, marker
from tests.deployment import Deployment, Event, eventually
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

NIGHTLY = {
    "name": "nightly",
    "batch": True,
    "namespaces": ["{app_id}/{user_id}"],
    # Abandoned after a second: background work, as what a schedule asks for is.
    "triggers": {"on_end": False, "abandoned_s": 1.0},
}
LOOKS = {"deploy.wiring.model_stages.BATCHES_S": 0.2}  # for what is to be handed in or collected
TALKS = [conversation(2 * number, 5, random.Random(number)) for number in range(4)]


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as server:
        server.batches.ends_at_poll = None
        yield server


@pytest.fixture
async def deployment(deploy: Any, server: MessagesServer, tmp_path: Path) -> Deployment:
    """Without a worker."""
    (tmp_path / "policies.json").write_text(json.dumps([NIGHTLY]))
    return await deploy(
        "parked",
        policies_file=tmp_path / "policies.json",
        provider="claude",
        claude_model=MODELS[0],
        anthropic_base_url=server.url,
        anthropic_api_key=SecretStr(KEY),
        batch_wait_s=0.1,
        batch_poll_s=1.0,
    )


def said(talks: list[Conversation]) -> list[Event]:
    """All but the ends."""
    return [
        Event(record.topic, (record.key or b"").decode(), record.value)
        for talk in talks
        for record in events(talk)
        if record.topic == topics.MESSAGES
    ]


async def parked_without_lag(deployment: Deployment, count: int) -> None:
    async def parked() -> bool:
        return await deployment.count("parked") == count and not any((await deployment.lags()).values())

    await eventually(parked, f"{count} requests are parked and nothing lags")


async def live_memories(deployment: Deployment) -> Counter[str]:
    """Counts live memories by the markers of their users."""
    rows = await deployment.fetch("SELECT text FROM memories WHERE status = 'active'")
    return Counter(re.findall(r"Town\d+", row["text"])[0] for row in rows)


def markers(talks: list[Conversation]) -> Counter[str]:
    return Counter(marker(talk.user_id) for talk in talks)


@pytest.mark.heavy
async def test_a_parked_request_is_resumed_by_another_worker_after_the_resuming_worker_is_killed(
    deployment: Deployment, server: MessagesServer
) -> None:
    worker = await deployment.worker("first", batch_wait_s=3_600.0)
    await deployment.publish(*said(TALKS))
    await parked_without_lag(deployment, len(TALKS))
    assert server.seen == []

    server.script("slow")  # one call never ends
    await deployment.fetch("UPDATE parked SET deadline = now()")

    async def one_is_left() -> bool:
        return await deployment.count("parked") == 1 and len(server.seen) == len(TALKS)

    await eventually(one_is_left, "all but one are answered")
    worker.kill()
    await deployment.worker("second", batch_wait_s=3_600.0)
    await deployment.settled()
    assert await live_memories(deployment) == markers(TALKS)
    assert await deployment.count("parked") == 0
    assert len(server.seen) == len(TALKS) + 1, "only the call that the kill interrupted is made again"
    # The kill may come between the broker's answer and the outbox row's deletion, and what was told is then told again.
    answers = {
        (each["kind"], each["request_id"])
        for each in await deployment.values(topics.WINDOW_CONTROL)
        if "extraction" in each["kind"]
    }
    assert Counter(kind for kind, _ in answers) == {"extraction_completed": len(TALKS)}


@pytest.mark.heavy
async def test_a_batch_is_collected_by_another_worker_after_the_submitting_worker_is_killed(
    deployment: Deployment, server: MessagesServer
) -> None:
    worker = await deployment.worker("first", batch_wait_s=3_600.0)
    await deployment.publish(*said(TALKS))
    await parked_without_lag(deployment, len(TALKS))
    worker.kill()
    sender = await deployment.worker("second", paces=LOOKS)

    async def handed_in() -> bool:
        return bool(await deployment.fetch("SELECT FROM batches WHERE state = 'submitted'"))

    await eventually(handed_in, "the batch is handed in")
    sender.kill()
    (batch,) = server.batches.made.values()
    server.batches.end(batch.id)
    await deployment.worker("third", paces=LOOKS)
    await deployment.settled()
    assert await live_memories(deployment) == markers(TALKS)
    assert (server.seen, len(server.batches.made)) == ([], 1)
    rows = await deployment.fetch("SELECT usage FROM extractions")
    assert [row["usage"]["batched"] for row in rows] == [True] * len(TALKS)
