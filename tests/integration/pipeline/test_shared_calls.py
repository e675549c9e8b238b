"""Short conversations of a user share a model call on the running pipeline; each is answered once, despite killed
workers."""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec.structs import replace
from pydantic import SecretStr

from schemas.kafka import topics
from tests.builders.chat_events import talk
from tests.chaos.conversations import APP, conversation, events, marker
from tests.deployment import Deployment, Event, eventually
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

PATIENT = {"name": "patient", "namespaces": ["{app_id}/{user_id}"], "share_wait_s": 4.0}
LONG = {**PATIENT, "name": "long", "match": {"app_id": "long"}, "share_wait_s": 1_200.0}
TALKS = [conversation(number, 5, random.Random(number)) for number in range(12)]  # two of each user


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with in_a_thread(MessagesServer()) as server:
        yield server


@pytest.fixture
async def deployment(deploy: Any, server: MessagesServer, tmp_path: Path) -> Deployment:
    """Without a worker."""
    (tmp_path / "policies.json").write_text(json.dumps([LONG, PATIENT]))
    return await deploy(
        "shared",
        policies_file=tmp_path / "policies.json",
        provider="claude",
        claude_model=MODELS[0],
        anthropic_base_url=server.url,
        anthropic_api_key=SecretStr(KEY),
    )


async def published(deployment: Deployment, app_id: str = APP) -> None:
    talks = (replace(talk, messages=tuple(replace(each, app_id=app_id) for each in talk.messages)) for talk in TALKS)
    said = (record for talk in talks for record in events(talk))
    await deployment.publish(*(Event(each.topic, (each.key or b"").decode(), each.value) for each in said))


async def sources_of_memories(deployment: Deployment) -> dict[str, int]:
    """Returns the number of source conversations of the live memories, by the user's marker."""
    rows = await deployment.fetch("SELECT text, sources FROM memories WHERE status = 'active'")
    assert len(rows) == len({row["text"] for row in rows}) == len(TALKS) // 2
    return {
        re.findall(r"Town\d+", row["text"])[0]: len({each["conversation_id"] for each in row["sources"]})
        for row in rows
    }


async def every_conversation_once(deployment: Deployment) -> None:
    assert await sources_of_memories(deployment) == dict.fromkeys({marker(talk.user_id) for talk in TALKS}, 2)
    controls = {
        (each["kind"], each["request_id"])
        for each in await deployment.values(topics.WINDOW_CONTROL)
        if "extraction" in each["kind"]
    }
    assert Counter(kind for kind, _ in controls) == {"extraction_completed": len(TALKS)}
    assert await deployment.count("parked") == 0


@pytest.mark.heavy
async def test_the_conversations_of_a_user_share_a_call_and_each_is_a_source(
    deployment: Deployment, server: MessagesServer
) -> None:
    await deployment.worker("first")
    await published(deployment)
    await deployment.settled()
    await every_conversation_once(deployment)
    assert len(server.seen) < len(TALKS)


@pytest.mark.heavy
async def test_killing_workers_while_slices_wait_or_share_a_call_loses_and_duplicates_nothing(
    deployment: Deployment, server: MessagesServer
) -> None:
    first = await deployment.worker("first")
    await published(deployment, "long")

    async def all_wait() -> bool:
        return await deployment.count("parked") == len(TALKS) and not any((await deployment.lags()).values())

    await eventually(all_wait, "slices wait for others, and none is delivered again")
    first.kill()
    server.script("slow", "slow")
    await deployment.fetch("UPDATE parked SET not_before = now()")  # they have waited long enough
    second = await deployment.worker("second")

    async def a_call_is_under_way() -> bool:
        return len(server.seen) >= 2

    await eventually(a_call_is_under_way, "calls are under way")
    second.kill()
    await deployment.worker("third")
    await deployment.settled()
    await every_conversation_once(deployment)


async def test_a_manual_flush_requests_waiting_slices_at_once_even_if_the_worker_is_killed(
    deployment: Deployment, server: MessagesServer
) -> None:
    first = await deployment.worker("first")
    for number, text in enumerate(("I live in Turku.", "I'm allergic to peanuts.")):
        await deployment.publish(*talk(f"long-{number}", text, app_id="long", user_id="ada"))

    async def both_wait() -> bool:
        return await deployment.count("parked") == 2

    await eventually(both_wait, "slices wait for others")
    api = await deployment.api()
    server.script("slow")
    window = "SELECT 1 FROM windows WHERE conversation_id = 'long-0'"
    await eventually(lambda: deployment.fetch(window), "the window is projected")
    async with aiohttp.ClientSession() as client:
        for _ in range(2):
            async with client.post(f"{api}/v1/conversations/long-0/flush") as answer:
                assert answer.status < 300, await answer.text()

    async def a_call_is_under_way() -> bool:
        return len(server.seen) == 1

    await eventually(a_call_is_under_way, "the call is under way")
    first.kill()
    await deployment.worker("second")
    await deployment.settled()
    rows = await deployment.fetch("SELECT text FROM memories WHERE status = 'active'")
    assert sorted(row["text"] for row in rows) == ["User is allergic to peanuts.", "User lives in Turku."]
    assert len(server.seen) == 2, "one call that was cut off, and one for both"
