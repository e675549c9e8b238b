"""A worker with several providers: their order, excluded providers, and requests that wait for one."""

import json
import random
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from pydantic import SecretStr

from deploy.embedded.ports import free_port
from schemas.kafka import topics
from tests.chaos.conversations import Conversation, conversation, events, marker
from tests.deployment import Deployment, Event, eventually
from tests.servers.messages import KEY, MODELS, MessagesServer
from tests.servers.scripted import in_a_thread

SECRET = {"name": "secret", "match": {"app_id": "vault"}, "local_only": True, "share_wait_s": 0.0}
NOBODY = "http://127.0.0.1:9"


def asking(port: int, **settings: Any) -> dict[str, Any]:
    """The address is one of the outside, as far as memstream can tell."""
    claude = {"claude_model": MODELS[0], "anthropic_api_key": SecretStr(KEY)}
    here = {"anthropic_base_url": f"http://0.0.0.0:{port}", "ollama_base_url": NOBODY}
    return {"provider": "auto", **claude, **here, **settings}


def said(number: int, app_id: str = "open") -> Conversation:
    talk = conversation(2 * number, 5, random.Random(number))
    return replace(talk, messages=tuple(replace(message, app_id=app_id) for message in talk.messages))


async def publish(deployment: Deployment, *talks: Conversation) -> None:
    records = [record for talk in talks for record in events(talk)]
    await deployment.publish(*(Event(each.topic, (each.key or b"").decode(), each.value) for each in records))


async def answered(deployment: Deployment) -> dict[str, str]:
    """Returns the answering provider of each conversation."""
    rows = await deployment.fetch("SELECT conversation_id, provider FROM extractions WHERE answer IS NOT NULL")
    return {row["conversation_id"]: row["provider"] for row in rows}


async def remembered(deployment: Deployment) -> set[str]:
    return {row["text"].split()[-1].rstrip(".") for row in await deployment.fetch("SELECT text FROM memories")}


async def test_each_conversation_is_answered_by_an_allowed_and_available_provider(deploy: Any, tmp_path: Path) -> None:
    policies, port = tmp_path / "policies.json", free_port()
    policies.write_text(json.dumps([SECRET, {"name": "rest", "share_wait_s": 0.0}]))
    deployment = await deploy("auto", **asking(port, policies_file=policies))
    await deployment.worker()
    of_claude, kept, during_the_outage = said(1), said(2, "vault"), said(3)
    with in_a_thread(MessagesServer(port)) as server:
        await publish(deployment, of_claude, kept)
        await deployment.settled()
        sent = json.dumps(server.seen)
    await publish(deployment, during_the_outage)
    await deployment.settled()
    assert await answered(deployment) == {
        of_claude.conversation_id: "claude",
        kept.conversation_id: "offline",
        during_the_outage.conversation_id: "offline",
    }
    assert marker(of_claude.user_id) in sent and marker(kept.user_id) not in sent
    assert await remembered(deployment) == {marker(talk.user_id) for talk in (of_claude, kept, during_the_outage)}
    assert await deployment.records(topics.DEAD_LETTERS) == []


async def test_requests_wait_during_an_outage_of_all_models_when_the_rules_are_disabled(deploy: Any) -> None:
    port = free_port()
    deployment = await deploy("waiting", **asking(port, provider_order="ollama,claude", model_rest_s=3.0))
    await deployment.worker()
    talks = [said(4), said(5)]
    await publish(deployment, *talks)

    async def passed_over() -> bool:
        again = deployment.logs().count("no provider can answer") >= 3
        return again and await deployment.count("parked") == len(talks)

    await eventually(passed_over, "all requests wait, and are tried again")
    assert await answered(deployment) == {}
    with in_a_thread(MessagesServer(port)):
        await deployment.settled()
    assert await answered(deployment) == {talk.conversation_id: "claude" for talk in talks}
    assert await remembered(deployment) == {marker(talk.user_id) for talk in talks}
