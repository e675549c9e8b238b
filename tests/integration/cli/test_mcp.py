"""`memstream mcp` on a deployment, called by the SDK's client."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from deploy.embedded.process import module_environment
from deploy.runtime.dev import environment
from schemas.kafka import topics
from tests.builders.chat_events import message
from tests.deployment import Deployment, Event, eventually

MINE, THEIRS = "kitchen/ada", "kitchen/tom"


@asynccontextmanager
async def asking(deployment: Deployment, log: Path, *options: str) -> AsyncIterator[ClientSession]:
    """A client of a server that it started itself."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "deploy.cli.main", "mcp", *options],
        env=dict(module_environment()) | environment(deployment.settings),
    )
    with log.open("w") as errors:
        async with stdio_client(command, errors) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            yield session


async def call_tool(session: ClientSession, name: str, **given: Any) -> Any:
    result = await session.call_tool(name, given)
    assert not result.isError, result.content
    return json.loads(result.content[0].text)  # type: ignore[union-attr]


def said(conversation: str, user: str, content: str) -> Event:
    return message(conversation, 1, content, at=datetime.now(UTC), app_id="kitchen", user_id=user)


@pytest.mark.heavy
async def test_an_mcp_client_creates_and_reads_memories_only_in_its_own_namespace(deploy: Any, tmp_path: Path) -> None:
    deployment = await deploy("mcp")
    await deployment.worker(stages=["windows", "archive", "curation"])
    await deployment.publish(said("of-ada", "ada", "I keep bees."), said("of-tom", "tom", "I keep wolves."))
    async with (
        asking(deployment, tmp_path / "mine.log", "-n", MINE) as session,
        asking(deployment, tmp_path / "theirs.log", "-n", THEIRS, "--read-only") as stranger,
    ):
        kept = await call_tool(
            session, "create_memory", text="User is allergic to peanuts.", importance=0.9, tags=["food"]
        )
        assert kept["change"] == "created"
        again = await call_tool(session, "create_memory", text="User is allergic to peanuts!")
        assert again == {"memory_id": kept["memory_id"], "change": "reinforced"}
        (found,) = (await call_tool(session, "search_memories", query="what may they not eat?"))["memories"]
        assert (found["memory_id"], found["tags"]) == (kept["memory_id"], ["food"])
        assert (await call_tool(session, "get_memory", memory_id=kept["memory_id"]))["memory"]["text"] == found["text"]

        async def archived() -> bool:
            context = await call_tool(session, "get_context", query="peanuts", conversation_id="of-ada")
            return "I keep bees." in context["context"] and "allergic to peanuts" in context["context"]

        await eventually(archived, "the context tells what was just said", 30)
        foreign = await call_tool(session, "get_context", query="peanuts", conversation_id="of-tom")
        assert "wolves" not in foreign["context"]

        moved = {"name": "moved", "match": {"app_id": "kitchen"}, "namespaces": ["elsewhere/{user_id}"]}
        await deployment.publish(Event(topics.POLICIES, "moved", moved))

        async def followed() -> bool:
            context = await call_tool(session, "get_context", query="peanuts", conversation_id="of-ada")
            return "I keep bees." not in context["context"]

        await eventually(followed, "the conversation is another namespace's by a policy that was put meanwhile", 30)
        assert "create_memory" not in {tool.name for tool in (await stranger.list_tools()).tools}
        assert (await call_tool(stranger, "search_memories", query="peanuts"))["memories"] == []
        assert (await stranger.call_tool("get_memory", {"memory_id": kept["memory_id"]})).isError
        counted = "SELECT FROM memory_accesses WHERE access_count >= 2"
        await eventually(lambda: deployment.fetch(counted), "reads are counted")
    (row,) = await deployment.fetch("SELECT created_by, namespace FROM memories")
    assert row == {"created_by": "mcp", "namespace": MINE}
    assert await deployment.count("memory_accesses") == 1, "of the one memory that may be read"
