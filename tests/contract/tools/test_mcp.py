"""The agent tools over MCP, called by the SDK's own clients."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.memory import create_connected_server_and_client_session

from agents.api.tools.mcp import INTERNAL_ERROR, mcp_server
from deploy.embedded.process import module_environment
from tests.fakes.toolset import MINE, SHARED, Toolset, populated_toolset, spoken

ANSWERED_WITHIN_S = 60.0
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "editor", "version": "1"}}


@asynccontextmanager
async def over_stdio() -> AsyncIterator[ClientSession]:
    """A server in a process of its own."""
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "tests.servers.mcp_tools"], env=dict(module_environment())
    )
    async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        yield session


def parsed(result: Any) -> Any:
    assert not result.isError, result.content
    return json.loads(result.content[0].text)


async def test_a_client_lists_and_calls_the_tools_of_a_server_process_over_stdio() -> None:
    async with over_stdio() as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert list(tools) == ["create_memory", "get_memory", "search_memories", "get_context"]
        hints = {name: tool.annotations and tool.annotations.readOnlyHint for name, tool in tools.items()}
        assert hints == {"create_memory": False, "get_memory": True, "search_memories": True, "get_context": True}
        assert tools["create_memory"].inputSchema["required"] == ["content", "kinds"]
        kept = parsed(
            await session.call_tool(
                "create_memory", {"content": "User keeps bees.", "kinds": ["fact"], "tags": ["garden"]}
            )
        )
        (found,) = parsed(await session.call_tool("search_memories", {"query": "bees"}))["memories"]
        assert (found["memory_id"], found["text"]) == (kept["memory_id"], "User keeps bees.")
        read = parsed(
            await session.call_tool("get_memory", {"memory_id": "id of User is allergic to peanuts.", "full": True})
        )
        assert read["memory"]["full_text"] == "User carries an injector."


async def test_a_wrong_tool_call_returns_an_error_result_and_the_session_continues() -> None:
    async with over_stdio() as session:
        for name, given in (
            ("create_memory", {"text": ""}),
            ("forget_all", {}),
            ("search_memories", {"namespace": "x"}),
        ):
            assert (await session.call_tool(name, given)).isError, name
        assert len(parsed(await session.call_tool("search_memories", {}))["memories"]) == 2


async def test_half_an_emoji_on_standard_input_is_replaced_and_the_call_is_answered() -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.servers.mcp_tools"), stdin=PIPE, stdout=PIPE, env=dict(module_environment())
    )
    session: tuple[dict[str, Any], ...] = (
        {"id": 1, "method": "initialize", "params": INITIALIZE},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "search_memories", "arguments": {"query": "bees \ud83d"}}},
    )
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write("".join(json.dumps({"jsonrpc": "2.0"} | each) + "\n" for each in session).encode())
    try:
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            _, answer = [json.loads(await server.stdout.readline()) for _ in range(2)]
    finally:
        server.kill()
        await server.wait()
    assert (answer["id"], answer["result"]["isError"]) == (2, False)


@pytest.fixture
def toolset() -> Toolset:
    return populated_toolset()


async def test_a_read_only_server_lists_no_writing_tool(toolset: Toolset) -> None:
    server = mcp_server(toolset.tools(MINE, SHARED, writable=()))
    async with create_connected_server_and_client_session(server) as session:
        assert [tool.name for tool in (await session.list_tools()).tools] == [
            "get_memory",
            "search_memories",
            "get_context",
        ]
        assert (await session.call_tool("create_memory", {"text": "x"})).isError


async def test_an_unexpected_error_reveals_no_server_details_to_the_client(toolset: Toolset, caplog: Any) -> None:
    toolset.remembered.failure = RuntimeError("password=EXAMPLE")
    async with create_connected_server_and_client_session(mcp_server(toolset.tools())) as session:
        result = await session.call_tool("search_memories", {"query": "bees"})
    assert result.isError and result.content[0].text == INTERNAL_ERROR.text  # type: ignore[union-attr]
    assert "password=EXAMPLE" in caplog.text


async def test_a_search_over_mcp_returns_passages_word_for_word(toolset: Toolset) -> None:
    spoken(toolset)
    async with create_connected_server_and_client_session(mcp_server(toolset.tools())) as session:
        found = parsed(await session.call_tool("search_memories", {"query": "night train", "where": "said"}))
    assert [(each["speaker"], each["text"]) for each in found["said"]] == [("ada", "We took the night train to Porto.")]
