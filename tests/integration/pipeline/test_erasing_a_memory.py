"""The command line erases one memory of a running deployment; a message that is published again does not bring it back."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schemas import codec
from schemas.kafka import topics
from tests.builders.chat_events import end, message
from tests.command_line import Done, lines, run
from tests.deployment import Deployment, eventually

BEGAN = datetime.now(UTC) - timedelta(hours=1)
SECRET, KEPT = "User lives in Porto.", "User works as a nurse."

pytestmark = pytest.mark.heavy


async def memstream(deployment: Deployment, *words: str) -> Done:
    return await asyncio.to_thread(run, deployment.settings, deployment.directory, *words)


async def live(deployment: Deployment) -> dict[str, str]:
    rows = await deployment.fetch("SELECT memory_id, text FROM memories WHERE status = 'active'")
    return {row["text"]: row["memory_id"] for row in rows}


async def say(deployment: Deployment, conversation: str, *texts: str) -> None:
    said = [
        message(conversation, number, text, at=BEGAN + timedelta(seconds=number), app_id="notes", user_id="mara")
        for number, text in enumerate(texts)
    ]
    await deployment.publish(*said, end(conversation, at=BEGAN, message_count=len(texts)))


async def test_a_memory_is_erased_from_the_command_line_and_only_a_new_message_brings_it_back(deploy: Any) -> None:
    deployment = await deploy("erase-memory")
    await deployment.worker()

    async def remembered(texts: set[str]) -> bool:
        return set(await live(deployment)) == texts

    await say(deployment, "first", "I live in Porto.", "I work as a nurse.")
    await eventually(lambda: remembered({SECRET, KEPT}), "both are remembered")
    memory_id = (await live(deployment))[SECRET]

    (planned,) = lines(await memstream(deployment, "erase", "--memory", memory_id, "--dry-run", "--json"))
    assert planned["held"] == {"versions": 1, "vectors": 1, "source_messages": 1}
    assert (planned["text"], planned["status"]) == (SECRET, "active")
    assert await remembered({SECRET, KEPT})

    (outcome,) = lines(await memstream(deployment, "erase", "--memory", memory_id, "--reason", "as asked", "--json"))
    assert (outcome["change"], outcome["erased"]["versions"]) == ("purged", 1)
    codes = {each["code"] for each in outcome["erased"]["remains"]}
    assert codes == {"messages", "requests", "candidates", "commands", "events", "overwritten"}
    assert all(each["until"] for each in outcome["erased"]["remains"])
    again = await memstream(deployment, "erase", "--memory", memory_id)
    assert (again.returncode, again.stdout.strip()) == (0, f"{memory_id} of notes/mara was erased before")
    unknown = await memstream(deployment, "erase", "--memory", "unknown")
    assert (unknown.returncode, unknown.stderr.strip()) == (1, "memstream: there is no memory unknown")

    await deployment.settled()
    assert memory_id not in {str(point) for point in await deployment.points()}
    states = [record for record in await deployment.records(topics.STATE) if record.key == memory_id.encode()]
    assert states[-1].value is None
    purged = [codec.decode(record.value, Any)["data"] for record in await deployment.records(topics.EVENTS)][-1]
    assert (purged["change"], purged["memory"]["text"]) == ("purged", "")

    await say(deployment, "first", "I live in Porto.", "I work as a nurse.")  # published again
    await say(deployment, "second", "I live in Porto.")
    await eventually(lambda: remembered({SECRET, KEPT}), "it was said in a new message")
    (row,) = await deployment.fetch("SELECT memory_id, sources FROM memories WHERE text = $1", SECRET)
    assert row["memory_id"] != memory_id
    assert {source["conversation_id"] for source in row["sources"]} == {"second"}
