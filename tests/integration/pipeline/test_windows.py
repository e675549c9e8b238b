"""Contexts on real servers: pruning, events, summaries, projection, manual clears, and recovery after a kill."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.kafka import topics
from tests.builders.chat_events import message
from tests.deployment import Deployment, Event, eventually

CONVERSATION = "long-talk"
WINDOW = {"max_messages": 20, "min_recent": 4, "summarise": True}
POLICY = {"name": "talks", "namespaces": ["talks"], "window": WINDOW, "triggers": {"on_end": True}}
SMALL = "small-talk"
SMALL_POLICY = {
    "name": "small",
    "match": {"mode": "small"},
    "namespaces": ["small"],
    "window": {"context_tokens": 300, "min_recent": 4},
    "triggers": {"on_end": False, "idle_s": 12.0},
}
TOLD = "I moved to Oslo last year and I work as a baker."


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    path = tmp_path / "policies.json"
    path.write_text(json.dumps([SMALL_POLICY, POLICY]))
    return path


def said(number: int, conversation_id: str = CONVERSATION) -> Event:
    role = "system" if number == 0 else ("assistant", "user")[number % 2]
    text = TOLD if number == 7 else f"This is what was said as number {number}."
    at = f"2026-11-01T10:{number // 60:02}:{number % 60:02}Z"
    return message(conversation_id, number, text, at=at, role=role, model="claude-sonnet-4-5")


def small(number: int) -> Event:
    event = said(number, SMALL)
    return event._replace(value=event.value | {"mode": "small", "role": ("assistant", "user")[number % 2]})


def by_hand(kind: str) -> Event:
    value = {"conversation_id": CONVERSATION, "kind": kind, "at": "2026-11-01T11:00:00Z"}
    return Event(topics.WINDOW_CONTROL, CONVERSATION, value)


async def projected(deployment: Deployment, what: str, holds: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The window's row once it is as expected."""

    async def row() -> dict[str, Any] | None:
        rows = await deployment.fetch("SELECT * FROM windows WHERE conversation_id = $1", CONVERSATION)
        return rows[0] if rows and holds(rows[0]) else None

    return await eventually(row, f"the window's row tells: {what}")


async def activity(deployment: Deployment, conversation_id: str = CONVERSATION) -> list[dict[str, Any]]:
    events = [event for event in await deployment.values(topics.ACTIVITY) if event["subject"] == conversation_id]
    return [event for event in events if event["type"].startswith("memstream.window.")]


async def test_a_long_conversation_is_pruned_summarised_and_cleared_despite_kills(deploy, policies):
    deployment = await deploy("contexts", policies_file=policies)
    worker = await deployment.worker("first")
    await deployment.publish(*(said(number) for number in range(46)))
    row = await projected(deployment, "46 messages", lambda row: row["statistics"]["total_messages"] == 46)
    assert row["statistics"]["messages_in_context"] <= 21
    assert row["statistics"]["context_tokens"] == 200_000
    assert (row["phase"], row["policy"], row["extracted_to"]) == ("open", "talks", 0)

    events = await activity(deployment)
    assert {event["type"] for event in events} == {"memstream.window.pruned"}
    assert sum(event["data"]["removed"] for event in events) == row["statistics"]["pruned_messages"]
    assert len({event["id"] for event in events}) == len(events)
    prunings = await deployment.fetch("SELECT * FROM window_prunings WHERE conversation_id = $1", CONVERSATION)
    assert [each["number"] for each in prunings] == list(range(1, len(events) + 1))

    row = await projected(deployment, "a summary in the marker", lambda row: "Oslo" in json.dumps(row["gaps"]))

    await deployment.publish(*(small(number) for number in range(30)))

    async def pruned() -> list[str] | None:
        types = [event["type"] for event in await activity(deployment, SMALL)]
        return types if "memstream.window.pruned" in types else None

    types = await eventually(pruned, "a context that fills up is warned of and pruned")
    assert types is not None and types[0] == "memstream.window.warned"

    worker.send(signal.SIGKILL)
    await deployment.publish(by_hand("clear"), said(46))
    await deployment.worker("second")
    row = await projected(
        deployment, "cleared", lambda row: row["cleared_at"] and row["statistics"]["total_messages"] == 47
    )
    assert row["statistics"]["messages_in_context"] in (1, 2), "the system prompt, and what was said after the clearing"
    assert [event["type"] for event in await activity(deployment)][-1] == "memstream.window.cleared"

    end = {"conversation_id": CONVERSATION, "timestamp": "2026-11-01T11:00:01Z", "message_count": 47}
    await deployment.publish(Event(topics.ENDED, CONVERSATION, end))
    await deployment.settled()
    row = await projected(
        deployment, "ended and extracted", lambda row: row["phase"] == "ended" and row["extracted_to"]
    )
    requests = [
        request
        for request in await deployment.values(topics.REQUESTS)
        if request.get("purpose") != "summarise" and request["policy"] == "talks"
    ]
    requested_ids = {message["message_id"] for request in requests for message in request["messages"]}
    assert requested_ids == {f"{CONVERSATION}-{number}" for number in range(47)}, (
        "nothing that left the context was forgotten"
    )
    memories = await deployment.fetch("SELECT text FROM memories")
    assert any("Oslo" in memory["text"] for memory in memories)
    assert await deployment.values(topics.DEAD_LETTERS) == []
