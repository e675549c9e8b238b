"""A user is erased on the running pipeline, and then looked for: in every table, in Kafka, in Qdrant, in local stores."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.dead_letters import dead_letter
from deploy import connections
from schemas import codec, topics
from schemas.errors import Rejected
from tests.command_line import Done, lines, run
from tests.deployment import Deployment, Event, eventually
from tests.integration.pipeline.test_memory_cache import following
from tests.integration.pipeline.test_purge import tables_that_say

MARK = "Zanzibar"  # in everything that mara says, and in nothing else
OTHER = "Porto"
NOW = datetime.now(UTC)
BEFORE = NOW - timedelta(hours=1)
AHEAD = NOW + timedelta(minutes=30)


def said(user: str, conversation: str, number: int, place: str, at: datetime = BEFORE) -> Event:
    message = {
        **{"conversation_id": conversation, "message_id": f"{conversation}-{number}", "role": "user"},
        **{"timestamp": (at + timedelta(seconds=number)).isoformat(), "app_id": "notes", "user_id": user},
        "content": f"I live in {place}. I own {number} boats.",
    }
    return Event(topics.MESSAGES, conversation, message)


def ended(conversation: str, count: int) -> Event:
    told = {"conversation_id": conversation, "timestamp": BEFORE.isoformat(), "message_count": count}
    return Event(topics.ENDED, conversation, told)


async def put_aside(deployment: Deployment) -> None:
    """A letter of each of them, as a stage gives up a message."""
    letters = []
    for record in await deployment.records(topics.MESSAGES):
        if record.key in (b"mara-open", b"tom-open"):
            letters.append(dead_letter(record, "windows", Rejected("too_much", "for then"), BEFORE))
    async with connections.kafka(deployment.settings) as publisher:
        await publisher.publish(letters)


async def erase(deployment: Deployment, *args: str) -> Done:
    return await asyncio.to_thread(run, deployment.settings, deployment.directory, "erase", *args)


def says(value: bytes | None) -> bool:
    return value is not None and MARK.encode() in value


async def compacted(deployment: Deployment, topic: str) -> dict[bytes, bytes]:
    """What a reader of the whole topic ends with."""
    latest = {record.key: record.value for record in await deployment.records(topic)}
    return {key: value for key, value in latest.items() if value is not None}


def files_that_say(directory: Path) -> list[str]:
    """Of the workers' stores, logs of writes included."""
    stores = [current.parent for current in directory.rglob("CURRENT")]
    assert stores
    files = [path for store in stores for path in store.iterdir() if path.is_file()]
    return [str(path) for path in files if MARK.encode() in path.read_bytes()]


async def assert_nothing_is_left(deployment: Deployment) -> None:
    assert await tables_that_say(deployment, MARK) == {}
    assert [payload for payload, _ in (await deployment.points()).values() if MARK in json.dumps(payload)] == []
    names = deployment.settings.topics()
    for topic in (topics.STATE, names.changelog.removeprefix(names.prefix)):
        assert [key for key, value in (await compacted(deployment, topic)).items() if says(value)] == []
    assert [record.offset for record in await deployment.records(topics.DEAD_LETTERS) if says(record.value)] == []
    assert files_that_say(deployment.directory) == []


@pytest.mark.heavy
async def test_a_user_who_is_erased_is_found_nowhere_and_does_not_come_back(deploy: Any) -> None:
    deployment: Deployment = await deploy("erasure")
    async with following(deployment) as follower:
        first, second = deployment.starting("one"), deployment.starting("two")
        await asyncio.gather(first.wait_ready(), second.wait_ready())
        mara = [said("mara", "mara-done", n, MARK) for n in range(3)] + [ended("mara-done", 3)]
        opened = [said("mara", "mara-open", n, MARK) for n in range(3)]
        tom = [said("tom", "tom-done", 0, OTHER), ended("tom-done", 1), said("tom", "tom-open", 0, OTHER)]
        await deployment.publish(*mara, *opened, *tom, said("mara", "mara-ahead", 0, MARK, AHEAD))

        async def remembered() -> bool:
            return await deployment.count("messages") == 9 and len(await deployment.points()) >= 2

        await eventually(remembered, "both are remembered", 60)
        await put_aside(deployment)
        told = lines(await erase(deployment, "--user", "mara", "--dry-run", "--json"))
        assert {line["namespace"]: line["how"] for line in told}["notes/mara"] == "purge"
        assert (await tables_that_say(deployment, MARK))["messages"] == 7
        assert files_that_say(deployment.directory) != []

        done = await erase(deployment, "--user", "mara", "--reason", "as asked", "--json")
        assert_says_what_went(done, deployment)
        await assert_nothing_is_left(deployment)
        await follower.caught_up()
        assert MARK not in str(follower.cache.memories)
        assert [says(record.value) for record in await deployment.records(topics.MESSAGES)].count(True) == 7, "named"

        await deployment.publish(*mara, *opened)  # sent again
        await first.stop()  # its windows are read from the changelog by the other

        async def read() -> bool:
            return not any((await deployment.lags()).values())

        await eventually(read, "what was sent again is read", 60)
        await assert_nothing_is_left(deployment)
        letters = [codec.parse(record.value) for record in await deployment.records(topics.DEAD_LETTERS)]
        assert {letter["user_id"] for letter in letters} == {"tom"}
        assert {"memories", "messages"} <= (await tables_that_say(deployment, OTHER)).keys()
        later = datetime.now(UTC)
        await deployment.publish(said("mara", "mara-new", 0, OTHER, later), ended("mara-new", 1))

        async def back() -> bool:
            return len(await deployment.fetch("SELECT 1 FROM memories WHERE namespace = 'notes/mara'")) > 0

        await eventually(back, "what is said later is remembered", 60)


def assert_says_what_went(done: Done, deployment: Deployment) -> None:
    (receipt,) = lines(done)
    assert (done.returncode, receipt["status"]) == (0, "complete"), done.stderr
    assert MARK not in done.stdout
    removed = {store["store"]: store["removed"] for store in receipt["stores"]}
    assert removed["PostgreSQL, what was said"]["messages"] == 7
    gone = removed["windows, their changelog and local stores"]
    assert (gone["windows"], gone["window_messages"]) == (3, 7)
    assert removed["Kafka, memory.dead-letters"] == {"letters": 3}
    assert removed["Qdrant"]["vectors"] >= 1
    assert deployment.topic(topics.MESSAGES) in {each["topic"] for each in receipt["remains"]}
