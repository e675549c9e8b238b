"""A purge under load over two workers is final, whatever arrives afterwards."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from schemas.kafka import topics
from tests.builders.chat_events import talk
from tests.builders.proposals import command
from tests.deployment import Deployment, Event, eventually
from tests.integration.pipeline.test_memory_cache import following

ERASED, KEPT = "notes/mara", "notes/tom"
MARK = "Zanzibar"  # in everything that mara says, and in nothing else
WAVES, SOME = 25, 10  # waves on either side of the erasure, and memories that there are by then
LONG_AGO = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
TOPICS = (topics.EVENTS, topics.STATE, topics.ACTIVITY)


def chat(number: int, user: str = "mara", place: str = MARK) -> list[Event]:
    text = f"I live in {place}. I own {number} boats."
    return talk(f"{user}-{number}", text, at=LONG_AGO, app_id="notes", user_id=user)


def proposed(number: int) -> Event:
    """A part as the extractor publishes it, of something that was said long ago and is found only now."""
    source = {"conversation_id": f"p{number}", "message_id": uuid4().hex, "timestamp": LONG_AGO}
    found = {"candidate_id": uuid4().hex, "kind": "fact", "confidence": 0.9, "importance": 0.5, "sources": [source]}
    batch = {
        **{"request_id": uuid4().hex, "conversation_id": f"p{number}", "partition": 0, "namespace": ERASED},
        **{"part": 1, "parts": 1, "policy": "default", "policy_version": 1, "provider": "offline"},
        "candidates": [found | {"text": f"User saw thing number {number} in {MARK}"}],
        "extracted_at": datetime.now(UTC).isoformat(),
    }
    return Event(topics.CANDIDATES, ERASED, batch)


def wave(number: int) -> list[Event]:
    """Returns events of all kinds that could restore erased data: messages, candidates and old commands."""
    old = command("create", ERASED, text=f"User knows {number} people in {MARK}.", at=LONG_AGO)
    return [*chat(number), proposed(number), proposed(1_000 + number), old]


def storm(first: int) -> list[Event]:
    return [event for number in range(WAVES) for event in wave(first + number)]


async def live(deployment: Deployment) -> int:
    (row,) = await deployment.fetch("SELECT count(*) AS live FROM memories WHERE namespace = $1", ERASED)
    return int(row["live"])


async def purged(deployment: Deployment) -> bool:
    events = await deployment.values(topics.ACTIVITY)
    return any(event["data"].get("change") == "purged" for event in events)


async def tables_that_say(deployment: Deployment, word: str) -> dict[str, int]:
    """Rows of any table in which the word stands."""
    tables = await deployment.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    found = {}
    for table in sorted(row["tablename"] for row in tables):
        text = (
            f"coalesce(convert_from(payload, 'UTF8'), '') || {table}::text" if table == "outbox" else f"{table}::text"
        )
        (row,) = await deployment.fetch(f"SELECT count(*) AS rows FROM {table} WHERE {text} LIKE $1", f"%{word}%")
        if row["rows"]:
            found[table] = row["rows"]
    return found


async def assert_nothing_is_left(deployment: Deployment, cache: Any) -> None:
    assert await tables_that_say(deployment, MARK) == {}
    snapshot = await deployment.snapshot()
    assert snapshot.memories(ERASED) == []
    assert [row for row in snapshot.rows["memory_versions"] if row["namespace"] == ERASED] == []
    assert [payload for payload, _ in snapshot.points.values() if payload["namespace"] == ERASED] == []
    assert len(snapshot.rows["embeddings"]) == len(snapshot.points) == len(snapshot.memories(KEPT)) > 0
    latest = {record.key: record.value for record in snapshot.records[topics.STATE]}
    assert [value for value in latest.values() if value is not None and ERASED.encode() in value] == []
    assert [memory for memory in cache.memories.values() if memory["namespace"] == ERASED] == []
    events = [event["data"] for event in snapshot.values(topics.EVENTS) if event["data"]["namespace"] == ERASED]
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    gone = next(number for number, event in enumerate(events) if event["change"] == "purged")
    assert {event["change"] for event in events[gone:]} == {"purged"}, "nothing became of anything after the erasure"
    assert MARK not in json.dumps(events[gone:])


@pytest.mark.heavy
async def test_a_namespace_purged_under_load_leaves_nothing_and_nothing_returns(deploy: Any) -> None:
    deployment: Deployment = await deploy("purge")
    async with following(deployment) as follower:
        workers = [deployment.start_worker(name) for name in ("one", "two")]
        await asyncio.gather(*(worker.wait_ready() for worker in workers))
        await deployment.publish(*chat(1, "tom", "Porto"))
        before, behind = storm(0), storm(WAVES)
        await deployment.publish(*before)

        async def some_are_stored() -> bool:
            return await live(deployment) >= SOME

        await eventually(some_are_stored, "the storm has left memories", 120)
        await deployment.publish(*behind[: len(behind) // 2], command("purge", ERASED, actor="mara"), *behind)
        await eventually(lambda: purged(deployment), "the namespace is erased", 180)
        await deployment.publish(*before, *behind, *wave(5_000))
        await deployment.settled(240)
        await follower.caught_up()
        await assert_nothing_is_left(deployment, follower.cache)
        again = command("create", ERASED, text="User is back.")
        await deployment.publish(again)
        await deployment.settled()
        assert await live(deployment) == 1, "what is said later is remembered"
