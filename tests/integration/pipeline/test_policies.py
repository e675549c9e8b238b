"""Policies put, changed or removed on their topic apply to later messages of the running pipeline."""

import json
from typing import Any

from schemas.kafka import topics
from tests.builders.chat_events import talk
from tests.deployment import Deployment, Event, eventually

OWN = {"name": "own", "match": {"app_id": "notes"}, "namespaces": ["from-the-file"]}


def put(name: str, **fields: Any) -> Event:
    return Event(topics.POLICIES, name, {"name": name, "match": {"app_id": "notes"}} | fields)


def said(conversation: str, text: str) -> list[Event]:
    return talk(conversation, text, app_id="notes", user_id="ada")


async def applied(deployment: Deployment, *said: str, within_s: float = 30.0) -> None:
    """Until a worker's log tells that it applies these now, in this order, and no others."""

    async def are_logged() -> bool:
        lines = [line for line in deployment.logs().splitlines() if " policies: " in line]
        return bool(lines) and lines[-1].endswith(f" policies: {', '.join(said)}")

    await eventually(are_logged, f"policies as {said}", within_s)


async def remembered(deployment: Deployment, *events: Event) -> dict[str, list[str]]:
    """Texts by namespace once the events are processed."""
    await deployment.publish(*events)
    await deployment.settled()
    rows = await deployment.fetch("SELECT namespace, text FROM memories ORDER BY created_at, text")
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["namespace"], []).append(row["text"])
    return found


async def test_policies_are_put_changed_spoiled_and_removed_while_one_worker_runs(deploy: Any, tmp_path):
    own = tmp_path / "own.json"
    own.write_text(json.dumps([OWN]))
    deployment = await deploy("policies", policies_file=own)
    await deployment.publish(put("live", namespaces=["first"]))
    worker = await deployment.worker()
    assert await remembered(deployment, *said("c1", "I am allergic to peanuts.")) == {
        "first": ["User is allergic to peanuts."]
    }, "what the topic has is read before work starts, and goes before the file"

    await deployment.publish(put("live", version=2, namespaces=["second", "{user_id}"], kinds=["preference"]))
    await applied(deployment, "live (version 2)", "own (version 1)")
    found = await remembered(deployment, *said("c2", "I prefer short recipes. We decided to use Postgres."))
    assert found["ada"] == ["User prefers short recipes."], "the kinds are those of the new version"
    assert found["second"] == ["ada prefers short recipes."], "who shares a namespace is named there"

    spoiled = put("live", max_text_chars=3)
    await deployment.publish(spoiled, put("other", match={"app_id": "elsewhere"}))
    await applied(deployment, "live (version 2)", "other (version 1)", "own (version 1)")
    (letter,) = await eventually(lambda: deployment.records(topics.DEAD_LETTERS), "a dead letter", 30.0)
    assert (letter.key, letter.value) == (b"live", spoiled.bytes)
    headers = {name: value.decode() for name, value in letter.headers}
    assert (headers["memstream-reason"], headers["memstream-stage"]) == ("invalid", "policies")
    assert (headers["memstream-topic"], headers["memstream-offset"]) == (deployment.topic(topics.POLICIES), "2")
    assert "max_text_chars" in headers["memstream-detail"]

    await deployment.publish(Event(topics.POLICIES, "live", None))
    await applied(deployment, "other (version 1)", "own (version 1)")
    found = await remembered(deployment, *said("c3", "I live in Lisbon."))
    assert found["from-the-file"] == ["User lives in Lisbon."]
    assert worker.running and len(await deployment.records(topics.DEAD_LETTERS)) == 1
