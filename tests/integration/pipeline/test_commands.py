"""Valid and invalid commands and candidates of a plain Kafka client."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import pytest

from deploy.embedded.stack import EmbeddedStack
from schemas.kafka import topics
from tests.deployment import Deployment, Event, deployed, eventually

AT = "2026-03-02T09:00:00Z"


@pytest.fixture(scope="module")
def served(embedded_stack: EmbeddedStack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """A deployment whose curation stage is served; nothing else is needed here."""
    made = AsyncExitStack()
    few = {"conversation_partitions": 2, "namespace_partitions": 2}
    directory = tmp_path_factory.mktemp("commands")
    with asyncio.Runner() as runner:
        try:
            entering = made.enter_async_context(deployed(embedded_stack, "commands", directory, **few))
            deployment = runner.run(entering)
            runner.run(deployment.worker(stages=["curation"]))
            yield deployment
        finally:
            runner.run(made.aclose())


@pytest.fixture
def namespace() -> str:
    """One that no other test writes to."""
    return f"notes/{uuid4().hex[:8]}"


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
        events = {event["data"].get("command_id"): event for event in await deployment.values(topics.ACTIVITY)}
        return [events[name] for name in wanted] if events.keys() >= set(wanted) else None

    found = await eventually(answered, f"commands answered: {wanted}", 30)
    await eventually(lambda: curated(deployment), "the curation stage is done", 30)
    assert found is not None
    return found


async def curated(deployment: Deployment) -> bool:
    """Nothing is left to decide and to project; no other stage is served here."""
    return not (await deployment.lags())["curation"] and not await deployment.count("outbox")


async def of_namespace(deployment: Deployment, topic: str, namespace: str) -> list[Any]:
    return [record for record in await deployment.records(topic) if record.key == namespace.encode()]


async def dead_letters(deployment: Deployment, namespace: str, count: int) -> list[Any]:
    """The dead letters under a namespace's key, once there are so many."""

    async def there() -> list[Any] | None:
        found = await of_namespace(deployment, topics.DEAD_LETTERS, namespace)
        return found if len(found) >= count else None

    found = await eventually(there, f"{count} dead letters", 60)
    assert found is not None
    return found


def headers_of(letter: Any) -> dict[str, str]:
    return {name.removeprefix("memstream-"): value.decode() for name, value in letter.headers}


async def memories(deployment: Deployment, namespace: str) -> list[dict[str, Any]]:
    return await deployment.fetch("SELECT * FROM memories WHERE namespace = $1 ORDER BY created_at", namespace)


async def test_a_memory_is_created_updated_and_deleted_by_commands_in_every_store(served: Deployment, namespace: str):
    create = command("create", namespace, text="User keeps bees.", memory_kind="hobby", importance=0.8)
    (accepted,) = await answers(served, create)
    assert (accepted["type"], accepted["subject"]) == ("memstream.command.accepted", namespace)
    (memory,) = await memories(served, namespace)
    assert (memory["text"], memory["kind"], memory["importance"], memory["created_by"]) == (
        *("User keeps bees.", "hobby", 0.8),
        "anna",
    )
    name = memory["memory_id"]
    (payload, first_vector) = (await served.points())[name]
    assert (payload["text"], payload["status"], payload["namespace"]) == ("User keeps bees.", "active", namespace)

    await answers(served, command("update", namespace, memory_id=name, text="User keeps bees and hens."))
    (memory,) = await memories(served, namespace)
    assert (memory["text"], memory["version"]) == ("User keeps bees and hens.", 2)
    (payload, vector) = (await served.points())[name]
    assert payload["text"] == "User keeps bees and hens."
    assert vector != first_vector

    await answers(served, command("delete", namespace, memory_id=name, reason="asked to"))
    (memory,) = await memories(served, namespace)
    assert (memory["status"], memory["text"]) == ("deleted", "")
    assert name not in await served.points()
    state = [record for record in await served.records(topics.STATE) if record.key == name.encode()]
    assert [record.value is None for record in state] == [False, False, True]
    events = [json.loads(record.value) for record in await of_namespace(served, topics.EVENTS, namespace)]
    assert [(event["type"], event["data"]["sequence"]) for event in events] == [
        ("memstream.memory.created", 1),
        ("memstream.memory.updated", 2),
        ("memstream.memory.deleted", 3),
    ]
    assert events[1]["data"]["before"]["text"] == "User keeps bees."
    assert events[2]["data"]["cause"]["reason"] == "asked to"
    assert "bees" not in json.dumps(events[2])


async def test_a_command_for_an_unknown_memory_is_rejected_with_a_reason(served: Deployment, namespace: str):
    (rejected,) = await answers(served, command("delete", namespace, memory_id="nobody-knows"))
    assert rejected["type"] == "memstream.command.rejected"
    assert "nobody-knows" in rejected["data"]["reason"]
    for topic in (topics.EVENTS, topics.DEAD_LETTERS):
        assert await of_namespace(served, topic, namespace) == []


async def test_a_command_published_twice_is_applied_and_answered_once(served: Deployment, namespace: str):
    create = command("create", namespace, "twice", text="User keeps bees.")
    await answers(served, create, create, command("create", namespace, text="User has a boat."))
    assert [row["reinforcement_count"] for row in await memories(served, namespace)] == [0, 0]
    answered = [event["data"].get("command_id") for event in await served.values(topics.ACTIVITY)]
    assert answered.count("twice") == 1
    assert len(await of_namespace(served, topics.EVENTS, namespace)) == 2


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda value: value | {"kind": "explode"}, "invalid"),
        (lambda value: {name: value[name] for name in value if name != "namespace"}, "invalid"),
        (lambda value: b"\x80 no json at all", "undecodable"),
    ],
    ids=["unknown kind", "no namespace", "no json"],
)
async def test_an_invalid_command_becomes_a_dead_letter_and_the_next_one_is_applied(
    served: Deployment, namespace: str, spoil: Callable[[Any], Any], reason: str
):
    good = command("create", namespace, text="User keeps bees.")
    bad = good._replace(value=spoil(good.value | {"command_id": "bad"}), headers=(("trace", b"17"),))
    await served.publish(bad)
    await answers(served, good)
    (letter,) = await dead_letters(served, namespace, 1)
    assert (letter.key, letter.value) == (namespace.encode(), bad.bytes)
    assert ("trace", b"17") in letter.headers
    assert (headers_of(letter)["reason"], headers_of(letter)["stage"]) == (reason, "curation")
    assert headers_of(letter)["topic"] == served.topic(topics.COMMANDS)
    assert len(await memories(served, namespace)) == 1


async def test_a_poison_candidate_batch_is_a_dead_letter_that_counts_as_answered(served: Deployment, namespace: str):
    poison = candidates(namespace, request_id=f"poisoned in {namespace}", candidates=[{"text": "no id, no sources"}])
    await served.publish(poison, candidates(namespace))
    (letter,) = await dead_letters(served, namespace, 1)
    assert (headers_of(letter)["reason"], letter.value) == ("invalid", poison.bytes)
    assert "candidates[0]" in headers_of(letter)["detail"]

    async def remembered() -> bool:
        return len(await memories(served, namespace)) == 1

    await eventually(remembered, "the batch after the poison is curated", 30)
    controls = await served.values(topics.WINDOW_CONTROL)
    assert f"poisoned in {namespace}" in [control["request_id"] for control in controls]


async def test_a_hundred_poison_records_in_a_row_do_not_stop_the_stage(served: Deployment, namespace: str):
    poison = [Event(topics.CANDIDATES, namespace, b"{%d" % number) for number in range(50)]
    poison += [Event(topics.COMMANDS, namespace, {"number": number}) for number in range(50)]
    await served.publish(*poison)
    (accepted,) = await answers(served, command("create", namespace, text="User keeps bees."))
    assert accepted["type"] == "memstream.command.accepted"
    found = await dead_letters(served, namespace, 100)
    assert sorted(letter.value for letter in found) == sorted(event.bytes for event in poison)
    assert (await served.lags())["curation"] == 0
