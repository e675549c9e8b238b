"""Commands and candidates from outside, as a plain client publishes them, valid and not."""

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from schemas import topics
from tests.deployment import Deployment, Event, eventually

AT = "2026-03-02T09:00:00Z"
Deploy = Any


@pytest.fixture
async def served(deploy: Deploy) -> Deployment:
    """A deployment whose curation stage is served; nothing else is needed here."""
    deployment = await deploy("commands")
    await deployment.worker(stages=["curation"])
    return deployment


def command(kind: str, namespace: str, command_id: str | None = None, **fields: Any) -> Event:
    value = {"command_id": command_id or uuid4().hex, "kind": kind, "namespace": namespace, "at": AT, "actor": "anna"}
    return Event(topics.COMMANDS, namespace, value | fields)


def candidates(namespace: str, **fields: Any) -> Event:
    """A candidate batch as the extractor publishes it, but for `fields`."""
    source = {"conversation_id": "c", "message_id": "m1", "timestamp": AT}
    found = {
        "candidate_id": uuid4().hex,
        "kind": "fact",
        "text": "User plays the cello.",
        "confidence": 0.9,
        "sources": [source],
    }
    batch = {
        "request_id": uuid4().hex,
        "conversation_id": "c",
        "partition": 0,
        "namespace": namespace,
        "part": 1,
        "parts": 1,
        "policy": "default",
        "policy_version": 1,
        "provider": "offline",
        "candidates": [found],
        "extracted_at": AT,
    }
    return Event(topics.CANDIDATES, namespace, batch | fields)


async def answers(deployment: Deployment, *events: Event) -> list[dict[str, Any]]:
    """Publishes commands and waits until each is answered: the activity events, in the order of the commands."""
    wanted = [event.value["command_id"] for event in events]
    await deployment.publish(*events)

    async def answered() -> list[dict[str, Any]] | None:
        told = {event["data"].get("command_id"): event for event in await deployment.values(topics.ACTIVITY)}
        return [told[name] for name in wanted] if told.keys() >= set(wanted) else None

    found = await eventually(answered, f"commands answered: {wanted}", 30)
    await deployment.settled()
    assert found is not None
    return found


async def letters(deployment: Deployment, count: int) -> list[Any]:
    """The dead letters, once there are so many."""

    async def there() -> list[Any] | None:
        found = await deployment.records(topics.DEAD_LETTERS)
        return found if len(found) >= count else None

    found = await eventually(there, f"{count} dead letters", 60)
    assert found is not None
    return found


def told(letter: Any) -> dict[str, str]:
    return {name.removeprefix("memstream-"): value.decode() for name, value in letter.headers}


async def memories(deployment: Deployment, namespace: str) -> list[dict[str, Any]]:
    return await deployment.fetch("SELECT * FROM memories WHERE namespace = $1 ORDER BY created_at", namespace)


async def test_a_memory_is_created_updated_and_deleted_by_commands_and_every_store_follows(served: Deployment):
    create = command("create", "notes/ada", text="User keeps bees.", memory_kind="hobby", importance=0.8)
    (accepted,) = await answers(served, create)
    assert (accepted["type"], accepted["subject"]) == ("memstream.command.accepted", "notes/ada")
    (memory,) = await memories(served, "notes/ada")
    assert (memory["text"], memory["kind"], memory["importance"], memory["created_by"]) == (
        *("User keeps bees.", "hobby", 0.8),
        "anna",
    )
    name = memory["memory_id"]
    (payload, first_vector) = (await served.points())[name]
    assert (payload["text"], payload["status"], payload["namespace"]) == ("User keeps bees.", "active", "notes/ada")

    await answers(served, command("update", "notes/ada", memory_id=name, text="User keeps bees and hens."))
    (memory,) = await memories(served, "notes/ada")
    assert (memory["text"], memory["version"]) == ("User keeps bees and hens.", 2)
    (payload, vector) = (await served.points())[name]
    assert payload["text"] == "User keeps bees and hens."
    assert vector != first_vector

    await answers(served, command("delete", "notes/ada", memory_id=name, reason="asked to"))
    (memory,) = await memories(served, "notes/ada")
    assert (memory["status"], memory["text"]) == ("deleted", "")
    assert await served.points() == {}
    state = await served.records(topics.STATE)
    assert [(record.key.decode(), record.value is None) for record in state] == [
        (name, gone) for gone in (False, False, True)
    ]
    events = await served.values(topics.EVENTS)
    assert [(event["type"], event["data"]["sequence"]) for event in events] == [
        ("memstream.memory.created", 1),
        ("memstream.memory.updated", 2),
        ("memstream.memory.deleted", 3),
    ]
    assert events[1]["data"]["before"]["text"] == "User keeps bees."
    assert events[2]["data"]["cause"]["reason"] == "asked to"
    assert "bees" not in json.dumps(events[2])


async def test_a_command_about_an_unknown_memory_is_rejected_and_says_why(served: Deployment):
    (rejected,) = await answers(served, command("delete", "notes/ada", memory_id="nobody-knows"))
    assert rejected["type"] == "memstream.command.rejected"
    assert "nobody-knows" in rejected["data"]["reason"]
    assert await served.records(topics.EVENTS) == await served.records(topics.DEAD_LETTERS) == []


async def test_the_same_command_published_twice_is_carried_out_and_answered_once(served: Deployment):
    create = command("create", "notes/ada", "twice", text="User keeps bees.")
    await answers(served, create, create, command("create", "notes/ada", text="User has a boat."))
    assert [row["reinforcement_count"] for row in await memories(served, "notes/ada")] == [0, 0]
    answered = [event["data"]["command_id"] for event in await served.values(topics.ACTIVITY)]
    assert answered.count("twice") == 1
    assert len(await served.records(topics.EVENTS)) == 2


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda value: value | {"kind": "explode"}, "invalid"),
        (lambda value: {name: value[name] for name in value if name != "namespace"}, "invalid"),
        (lambda value: b"\x80 no json at all", "undecodable"),
    ],
    ids=["unknown kind", "no namespace", "no json"],
)
async def test_an_invalid_command_is_a_dead_letter_and_the_next_one_is_carried_out(
    served: Deployment, spoil: Callable[[Any], Any], reason: str
):
    good = command("create", "notes/ada", text="User keeps bees.")
    bad = good._replace(value=spoil(good.value | {"command_id": "bad"}), headers=(("trace", b"17"),))
    await served.publish(bad)
    await answers(served, good)
    (letter,) = await letters(served, 1)
    assert (letter.key, letter.value) == (b"notes/ada", bad.bytes)
    assert ("trace", b"17") in letter.headers
    assert (told(letter)["reason"], told(letter)["stage"]) == (reason, "curation")
    assert told(letter)["topic"] == served.topic(topics.COMMANDS)
    assert len(await memories(served, "notes/ada")) == 1


async def test_a_poison_candidate_batch_is_a_dead_letter_that_counts_as_answered(served: Deployment):
    poison = candidates("notes/ada", request_id="poisoned", candidates=[{"text": "no id, no sources"}])
    await served.publish(poison, candidates("notes/ada"))
    (letter,) = await letters(served, 1)
    assert (told(letter)["reason"], letter.value) == ("invalid", poison.bytes)
    assert "candidates[0]" in told(letter)["detail"]

    async def remembered() -> bool:
        return len(await memories(served, "notes/ada")) == 1

    await eventually(remembered, "the batch after the poison is curated", 30)
    controls = await served.values(topics.WINDOW_CONTROL)
    assert "poisoned" in [control["request_id"] for control in controls]


async def test_a_hundred_poison_records_in_a_row_do_not_stop_the_stage(served: Deployment):
    poison = [Event(topics.CANDIDATES, "notes/ada", b"{%d" % number) for number in range(50)]
    poison += [Event(topics.COMMANDS, "notes/ada", {"number": number}) for number in range(50)]
    await served.publish(*poison)
    (accepted,) = await answers(served, command("create", "notes/ada", text="User keeps bees."))
    assert accepted["type"] == "memstream.command.accepted"
    found = await letters(served, 100)
    assert sorted(letter.value for letter in found) == sorted(event.bytes for event in poison)
    assert (await served.lags())["curation"] == 0
