"""Erasures of a user, a conversation and a namespace on the running pipeline leave nothing in tables, Kafka, Qdrant and
local stores."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agents.dead_letters.writer import dead_letter
from deploy.wiring import connections
from schemas import codec
from schemas.errors import Rejected
from schemas.kafka import topics
from sinks.passages.vectors import SUFFIX
from tests.builders.chat_events import end, message
from tests.command_line import Done, lines, run
from tests.deployment import Deployment, Event, eventually
from tests.integration.pipeline.test_memory_cache import following
from tests.integration.pipeline.test_purge import tables_that_say

OTHER = "Porto"
NOW = datetime.now(UTC)
BEFORE = NOW - timedelta(hours=1)
AHEAD = NOW + timedelta(minutes=30)


def said(user: str, conversation: str, number: int, place: str, at: datetime = BEFORE) -> Event:
    text, at = f"I live in {place}. I own {number} boats.", at + timedelta(seconds=number)
    return message(conversation, number, text, at=at, app_id="notes", user_id=user)


def ended(conversation: str, count: int) -> Event:
    return end(conversation, at=BEFORE, message_count=count)


class Subject(NamedTuple):
    """A user, conversation or namespace to erase. `word` occurs in all of its data and nowhere else."""

    option: str
    name: str
    user: str
    word: str
    chat: Sequence[Event]
    windows: int
    dead_letters: int

    @property
    def messages(self) -> int:
        return sum(event.topic == topics.MESSAGES for event in self.chat)


def remembered(user: str, word: str) -> list[Event]:
    name = f"{user}-done"
    return [*(said(user, name, number, word) for number in range(3)), ended(name, 3)]


def still_open(user: str, word: str) -> list[Event]:
    """One more with a sender's clock that is ahead."""
    return [
        *(said(user, f"{user}-open", number, word) for number in range(3)),
        said(user, f"{user}-ahead", 0, word, AHEAD),
    ]


def everything_of(user: str, word: str) -> list[Event]:
    return [*remembered(user, word), *still_open(user, word)]


USER = Subject("--user", "mara", "mara", "Zanzibar", everything_of("mara", "Zanzibar"), windows=3, dead_letters=4)
TALK = Subject(
    "--conversation", "ole-done", "ole", "Timbuktu", remembered("ole", "Timbuktu"), windows=1, dead_letters=3
)
SPACE = Subject(
    "--namespace", "notes/nora", "nora", "Samarkand", everything_of("nora", "Samarkand"), windows=3, dead_letters=4
)
ERASED = (USER, TALK, SPACE)
WORDS = [subject.word for subject in ERASED]
EVERYWHERE = {"table messages", "table memories", "Qdrant", "state", "changelog", "dead letters", "local stores"}
KEPT = [said("tom", "tom-done", 0, OTHER), ended("tom-done", 1), said("tom", "tom-open", 0, OTHER)]
LETTERS_OF = (b"mara-open", b"mara-ahead", b"ole-done", b"nora-open", b"nora-ahead", b"tom-open")


async def put_aside(deployment: Deployment) -> None:
    """Letters of each of them, as a stage gives up a message."""
    dead_letters = []
    for record in await deployment.records(topics.MESSAGES):
        if record.key in LETTERS_OF:
            dead_letters.append(dead_letter(record, "windows", Rejected("too_much", "for then"), BEFORE))
    async with connections.kafka(deployment.settings) as publisher:
        await publisher.publish(dead_letters)


async def erase(deployment: Deployment, *args: str) -> Done:
    return await asyncio.to_thread(run, deployment.settings, deployment.directory, "erase", *args)


async def compacted(deployment: Deployment, topic: str) -> bytes:
    """Returns the latest values of a topic, as a full read ends with."""
    latest = {record.key: record.value for record in await deployment.records(topic)}
    return b"\n".join(value for value in latest.values() if value is not None)


async def dead_letters(deployment: Deployment) -> list[bytes]:
    return [record.value for record in await deployment.records(topics.DEAD_LETTERS) if record.value is not None]


def stored_files(directory: Path) -> bytes:
    """Reads the files of the workers' stores, write-ahead logs included."""
    stores = [current.parent for current in directory.rglob("CURRENT")]
    assert stores
    return b"\n".join(path.read_bytes() for store in stores for path in store.iterdir() if path.is_file())


async def where(deployment: Deployment, *words: str) -> list[set[str]]:
    """Returns the stores that contain each word: tables by name, and the other stores."""
    names = deployment.settings.topics()
    stores = {
        "Qdrant": json.dumps([payload for payload, _ in (await deployment.points()).values()]).encode(),
        "state": await compacted(deployment, topics.STATE),
        "changelog": await compacted(deployment, names.changelog.removeprefix(names.prefix)),
        "dead letters": b"\n".join(await dead_letters(deployment)),
        "local stores": stored_files(deployment.directory),
    }
    tables = [{f"table {name}" for name in await tables_that_say(deployment, word)} for word in words]
    return [
        found | {name for name, held in stores.items() if word.encode() in held}
        for word, found in zip(words, tables, strict=True)
    ]


async def passages_of(deployment: Deployment, subject: Subject) -> tuple[int, int]:
    """The numbers of rows and of points of the subject's conversations; neither has words."""
    conversations = {event.key for event in subject.chat}
    rows = await deployment.fetch("SELECT FROM passages WHERE conversation_id = ANY ($1)", list(conversations))
    points = [payload for payload, _ in (await deployment.points(SUFFIX)).values()]
    return len(rows), sum(payload["conversation"] in conversations for payload in points)


async def assert_nothing_is_left_but_of(deployment: Deployment, *kept: Subject) -> None:
    found = await where(deployment, *(subject.word for subject in ERASED))
    for subject, places in zip(ERASED, found, strict=True):
        assert places >= EVERYWHERE if subject in kept else places == set(), subject.name
        passages = subject.messages if subject in kept else 0
        assert await passages_of(deployment, subject) == (passages, passages), subject.name


@pytest.mark.heavy
async def test_erased_users_conversations_and_namespaces_are_found_nowhere_and_do_not_return(deploy: Any) -> None:
    deployment: Deployment = await deploy("erasure")
    async with following(deployment) as follower:
        first, second = deployment.start_worker("one"), deployment.start_worker("two")
        await asyncio.gather(first.wait_ready(), second.wait_ready())
        chats = [event for subject in ERASED for event in subject.chat]
        await deployment.publish(*chats, *KEPT, said("ole", "ole-kept", 7, OTHER))
        messages = sum(subject.messages for subject in ERASED) + 3

        async def all_remembered() -> bool:
            users = await deployment.fetch("SELECT DISTINCT namespace FROM memories")
            return await deployment.count("messages") == messages and len(users) == 4

        await eventually(all_remembered, "all are remembered", 60)
        await put_aside(deployment)

        async def all_everywhere() -> bool:
            if any((await deployment.lags()).values()):  # what goes is counted: the windows of both partitions are read
                return False
            indexed = [await passages_of(deployment, each) == (each.messages, each.messages) for each in ERASED]
            return all(indexed) and all(places >= EVERYWHERE for places in await where(deployment, *WORDS))

        await eventually(all_everywhere, "all stand everywhere, or their absence would prove nothing", 60)
        report = lines(await erase(deployment, "--user", "mara", "--dry-run", "--json"))
        assert {line["namespace"]: line["how"] for line in report}["notes/mara"] == "purge"

        for number, subject in enumerate(ERASED, start=1):
            done = await erase(deployment, subject.option, subject.name, "--reason", "as asked", "--json")
            assert_says_what_went(done, subject, deployment)
            await assert_nothing_is_left_but_of(deployment, *ERASED[number:])
        await follower.caught_up()
        assert not any(word in str(follower.cache.memories) for word in WORDS)

        await deployment.publish(*(event for event in chats if not event.key.endswith("-ahead")))  # sent again
        await first.stop()  # its windows are read from the changelog by the other

        async def read() -> bool:
            stored = stored_files(deployment.directory)
            return not any(word.encode() in stored for word in WORDS) and not any((await deployment.lags()).values())

        await eventually(read, "what was sent again is read, and stores that were taken over are compacted", 60)
        await assert_nothing_is_left_but_of(deployment)
        assert {codec.parse(letter)["user_id"] for letter in await dead_letters(deployment)} == {"tom"}
        (others,) = await where(deployment, OTHER)
        assert others >= EVERYWHERE
        await assert_what_is_said_later_is_remembered(deployment)


async def assert_what_is_said_later_is_remembered(deployment: Deployment) -> None:
    later, names = datetime.now(UTC), ("mara-new", "ole-done", "nora-new")
    again = [said(each.user, name, 9, OTHER, later) for each, name in zip(ERASED, names, strict=True)]
    await deployment.publish(*again, *(ended(name, 1) for name in names))

    async def back() -> bool:
        rows = await deployment.fetch("SELECT sources FROM memories")
        sources = {source["conversation_id"] for row in rows for source in row["sources"]}
        return sources.issuperset(names)

    await eventually(back, "what is said later is remembered", 60)


def assert_says_what_went(done: Done, subject: Subject, deployment: Deployment) -> None:
    (receipt,) = lines(done)
    assert (done.returncode, receipt["status"]) == (0, "complete"), done.stderr
    assert subject.word not in done.stdout
    removed = {store["store"]: store["removed"] for store in receipt["stores"]}
    if subject is not SPACE:  # what goes of a namespace is counted with its memories
        assert removed["PostgreSQL, conversations"]["messages"] == subject.messages
    assert removed["passages, in PostgreSQL and Qdrant"]["passages"] == subject.messages
    gone = removed["windows, their changelog and their owners' local stores"]
    assert (gone["windows"], gone["window_messages"]) == (subject.windows, subject.messages)
    assert removed["Kafka, memory.dead-letters"] == {"letters": subject.dead_letters}
    assert removed["Qdrant"]["vectors"] >= 1
    assert deployment.topic(topics.MESSAGES) in {each["topic"] for each in receipt["remains"]}
