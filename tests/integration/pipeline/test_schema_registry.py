"""A worker reads messages of Confluent's serializers and dead-letters those that it cannot read."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from agents.dead_letters.writer import dead_letter_headers
from schemas import codec
from schemas.kafka import topics
from tests.command_line import lines, run
from tests.deployment import Deployment, Event, eventually
from tests.integration.conftest import Deploy
from tests.servers.schema_registry import RegistryServer
from tests.servers.scripted import in_a_thread

pytestmark = pytest.mark.heavy

SAID = {"message_id": "c-1", "role": "user", "content": "I am allergic to peanuts.", "app_id": "a", "user_id": "u"}
AT = {"conversation_id": "c", "timestamp": "2026-11-01T10:00:00Z"}


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with in_a_thread(RegistryServer(("memstream", "EXAMPLE-secret"))) as server:
        yield server


@pytest.fixture
async def deployment(deploy: Deploy, registry: RegistryServer) -> Deployment:
    login = {"schema_registry_username": "memstream", "schema_registry_password": "EXAMPLE-secret"}
    return await deploy("registry", schema_registry_url=registry.url, **login)


async def command(deployment: Deployment, *args: str) -> list[dict[str, Any]]:
    done = await asyncio.to_thread(run, deployment.settings, deployment.directory, *args, "--json")
    assert done.returncode == 0, done.stderr
    return lines(done)


def written(number: int, value: dict[str, Any]) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + codec.encode(value)


async def test_a_worker_processes_messages_encoded_with_a_schema_registry(
    deployment: Deployment, registry: RegistryServer
):
    numbers = {line["subject"]: line["id"] for line in await command(deployment, "schemas", "register")}
    assert await command(deployment, "schemas", "register") != [], "registering again changes nothing"
    said, ended = (numbers[f"{deployment.topic(name)}-value"] for name in (topics.MESSAGES, topics.ENDED))
    await deployment.publish(
        Event(topics.MESSAGES, "c", written(said, AT | SAID)),
        Event(topics.MESSAGES, "c", written(999, AT | SAID)),
        Event(topics.ENDED, "c", written(ended, AT | {"message_count": 1})),
    )
    registry.script(*["status:503"] * 12)
    await deployment.worker()

    async def events() -> list[Any]:
        return await deployment.values(topics.EVENTS)

    (event,) = await eventually(events, "a memory is published")
    assert "peanuts" in event["data"]["memory"]["text"]

    async def archived() -> bool:
        return await deployment.count("messages") == 1

    await eventually(archived, "the archive, which asks the registry by itself, has the message")

    async def put_aside() -> list[Any]:
        return await deployment.records(topics.DEAD_LETTERS)

    (letter,) = await eventually(put_aside, "what nobody can read is a dead letter")
    headers = dead_letter_headers(letter.headers)
    assert (headers["reason"], headers["stage"]) == ("unknown_schema", "windows")
    assert "does not know schema 999" in headers["detail"]
    assert letter.value == written(999, AT | SAID)
    assert "failed, trying again: the schema registry" in deployment.logs()
    assert "EXAMPLE-secret" not in deployment.logs()

    registry.schemas[999] = registry.schemas[said]
    await command(deployment, "dead-letters", "replay", "--reason", "unknown_schema")

    async def read() -> bool:
        return not any((await deployment.lags()).values())

    await eventually(read, "the letter is read again")
    assert len(await put_aside()) == 2, "the letter, and that it was replayed"
