"""Forget wishes on running workers remove a user's memories from PostgreSQL, Qdrant and blocks; an undo restores them.
Statements of others stay."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr

from schemas.kafka import topics
from tests.builders.chat_events import end, message
from tests.builders.proposals import command
from tests.deployment import Deployment, Event, eventually
from tests.servers.messages import KEY, MODELS, MessagesServer

BEGAN = datetime.now(UTC) - timedelta(hours=1)
POLICY = {"name": "groups", "namespaces": ["{app_id}/{user_id}", "{app_id}"]}

pytestmark = pytest.mark.heavy


def says(number: int, user_id: str, content: str) -> Event:
    at = BEGAN + timedelta(minutes=number)
    return message("dinner", number, content, user_id=user_id, app_id="kitchen", at=at)


async def live(deployment: Deployment) -> set[tuple[str, str]]:
    rows = await deployment.fetch("SELECT namespace, text FROM memories WHERE status = 'active'")
    return {(row["namespace"], row["text"]) for row in rows}


async def indexed(deployment: Deployment) -> set[str]:
    return {str(point) for point in await deployment.points()}


async def test_a_wish_of_one_of_two_people_forgets_only_their_statement_and_can_be_undone(deploy, tmp_path) -> None:
    policies = tmp_path / "policies.json"
    policies.write_text(json.dumps([POLICY]))
    deployment = await deploy("wishes", policies_file=policies)
    await deployment.worker()
    first = [says(0, "ada", "I live in Berlin."), says(1, "bob", "I live in Berlin.")]
    everything = {
        ("kitchen/ada", "User lives in Berlin."),
        ("kitchen/bob", "User lives in Berlin."),
        ("kitchen", "ada lives in Berlin."),
        ("kitchen", "bob lives in Berlin."),
    }
    bobs = {(namespace, text) for namespace, text in everything if namespace == "kitchen/bob" or text.startswith("bob")}

    async def known(expected: set[tuple[str, str]]) -> bool:
        return await live(deployment) == expected

    await deployment.publish(*first, end("dinner", at=BEGAN, message_count=2))
    await eventually(lambda: known(everything), "both are remembered")
    await deployment.publish(says(2, "bob", "Nice."), says(3, "ada", "Forget that I live in Berlin."), end("dinner"))
    await eventually(lambda: known(bobs), "what ada said is forgotten, and nothing of bob's")
    await deployment.settled()

    gone = await deployment.fetch(
        "SELECT memory_id, namespace FROM memories WHERE status = 'deleted' ORDER BY namespace"
    )
    events = await deployment.values(topics.EVENTS)
    causes = [each["data"]["cause"] for each in events if each["data"]["change"] == "deleted"]
    assert len(causes) == 2
    assert all(each["wish_id"] for each in causes)
    assert {row["memory_id"] for row in gone}.isdisjoint(await indexed(deployment))
    done = await deployment.values(topics.ACTIVITY)
    assert [each["type"] for each in done if each["type"].startswith("memstream.wish.")] == [
        "memstream.wish.forgotten"
    ] * 2

    await deployment.publish(*(command("undo", row["namespace"], memory_id=row["memory_id"]) for row in gone))
    await eventually(lambda: known(everything), "it came back")
    await deployment.settled()
    assert {row["memory_id"] for row in gone} <= await indexed(deployment)


async def test_repeated_messages_without_a_memory_are_hidden_from_search_until_the_wish_is_undone(
    deploy, tmp_path
) -> None:
    silent = {"name": "silent", "match": {"mode": "silent"}, "namespaces": ["{app_id}/{user_id}"], "extract": False}
    policies = tmp_path / "policies.json"
    policies.write_text(json.dumps([silent, POLICY]))
    deployment = await deploy("again", policies_file=policies)
    await deployment.worker()
    api = await deployment.api()
    repeat = "As I said, I live in Berlin."
    for number, user_id in enumerate(("ada", "bob")):
        said = message(f"chat-{user_id}", number, repeat, user_id=user_id, app_id="kitchen", mode="silent", at=BEGAN)
        await deployment.publish(said)
    await deployment.publish(says(0, "ada", "I live in Berlin."), end("dinner", at=BEGAN, message_count=1))
    await deployment.settled()

    async def found(user_id: str) -> bool:
        parameters = {"namespace": f"kitchen/{user_id}", "q": "Who lives in Berlin?", "in": "said"}
        async with aiohttp.ClientSession() as client, client.get(f"{api}/v1/search", params=parameters) as answer:
            assert answer.status == 200, await answer.text()
            return repeat in await answer.text()

    async def all_found() -> bool:
        return await found("ada") and await found("bob")

    await eventually(all_found, "what was said is found")
    await deployment.publish(says(3, "ada", "Forget that I live in Berlin."), end("dinner"))

    async def hidden() -> bool:
        return not await found("ada") and await found("bob")

    await eventually(hidden, "what ada said is hidden, and nothing of bob's")
    gone = await deployment.fetch("SELECT memory_id, namespace FROM memories WHERE status = 'deleted'")
    await deployment.publish(*(command("undo", row["namespace"], memory_id=row["memory_id"]) for row in gone))
    await eventually(all_found, "it is found again")


SISTER = "User's sister is leaving Tom."
PRIVATE = "What I told you about my sister and Tom stays between us, so keep none of it."


def reading(body: dict[str, Any]) -> str:
    """A model that extracts the statement about the sister, and reads the wish, which names the memory by its number."""
    prompt = json.dumps(body["messages"])
    entry = {"kind": "fact", "text": SISTER, "messages": [1], "confidence": 0.9, "importance": 0.5}
    if PRIVATE in prompt.rpartition("<transcript>")[2]:
        (number,) = re.findall(r"(\d+) [^\d]{1,6}User's sister", prompt)
        entry |= {"text": "my sister and Tom", "forget": 1, "supersedes": [int(number)]}
    return f"text:{json.dumps({'memories': [entry]})}"


async def test_a_wish_that_no_rule_knows_is_read_by_the_model_and_can_be_undone(deploy) -> None:
    async with MessagesServer() as server:
        server.choose = reading
        deployment = await deploy(
            "read",
            provider="claude",
            claude_model=MODELS[0],
            anthropic_base_url=server.url,
            anthropic_api_key=SecretStr(KEY),
        )
        await deployment.worker()

        async def texts() -> list[str]:
            return [text for _, text in await live(deployment)]

        async def known() -> bool:
            return await texts() == [SISTER]

        async def forgotten() -> bool:
            return await texts() == []

        ada = {"user_id": "ada", "app_id": "kitchen"}
        await deployment.publish(message("first", 0, "My sister is leaving Tom.", at=BEGAN, **ada), end("first"))
        await eventually(known, "the statement is remembered")
        await deployment.settled()
        asked_at = BEGAN + timedelta(minutes=1)
        await deployment.publish(message("second", 0, PRIVATE, at=asked_at, **ada), end("second"))
        await eventually(forgotten, "the memory is forgotten")
        await deployment.settled()

        (gone,) = await deployment.fetch("SELECT memory_id, namespace FROM memories WHERE status = 'deleted'")
        told = [each for each in await deployment.values(topics.ACTIVITY) if each["type"].startswith("memstream.wish.")]
        assert [(each["type"], each["data"]["memory_ids"]) for each in told] == [
            ("memstream.wish.forgotten", [gone["memory_id"]])
        ]
        await deployment.publish(command("undo", gone["namespace"], memory_id=gone["memory_id"]))
        await eventually(known, "it came back")
