"""The agent tools with API keys, over MCP's streamable HTTP with the SDK's client and over plain HTTP."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from tests.api import Api
from tests.fakes.toolset import MINE, SHARED, THEIRS, Toolset, populated_toolset
from tests.servers.asgi import serve_app

ALL = ["create_memory", "get_memory", "search_memories", "get_context"]


@pytest.fixture
def toolset() -> Toolset:
    return populated_toolset()


@pytest.fixture
def api(toolset: Toolset) -> Api:
    blocks = toolset.blocks()
    return Api(
        retrieval=toolset.tiers(),
        memories=toolset.remembered,
        commands=toolset.commands,
        recall=blocks.recall,
        conversations=blocks.conversations,
    )


@asynccontextmanager
async def mcp(api: Api, *namespaces: str, **rights: str) -> AsyncIterator[ClientSession]:
    """A session of a client with a key of these rights."""
    headers = {"Authorization": f"Bearer {api.keys.add(**rights)}"}
    async with serve_app(api.app) as url, httpx.AsyncClient(headers=headers) as client:
        address = str(httpx.URL(f"{url}/mcp", params={"namespace": list(namespaces)}))
        async with (
            streamable_http_client(address, http_client=client) as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            yield session


def parsed(result: Any) -> Any:
    assert not result.isError, result.content
    return json.loads(result.content[0].text)


async def names(session: ClientSession) -> list[str]:
    return [tool.name for tool in (await session.list_tools()).tools]


async def test_a_client_uses_every_tool_over_http(api: Api, toolset: Toolset) -> None:
    async with mcp(api, MINE, write="kitchen/*") as session:
        assert await names(session) == ALL
        kept = parsed(await session.call_tool("create_memory", {"text": "User keeps bees."}))
        (found,) = parsed(await session.call_tool("search_memories", {"query": "bees"}))["memories"]
        assert found["memory_id"] == kept["memory_id"]
        parsed(await session.call_tool("get_memory", {"memory_id": kept["memory_id"]}))
        block = parsed(await session.call_tool("get_context", {"query": "allergic", "conversation_id": "of-ada"}))
        assert "peanuts" in block["context"]
        assert (await session.call_tool("create_memory", {"text": "x", "namespace": THEIRS})).isError
    (command,) = toolset.commands.seen
    assert (command.namespace, command.text) == (MINE, "User keeps bees.")
    assert (await api.ports.accesses.of([kept["memory_id"]]))[kept["memory_id"]].access_count == 2


async def test_key_rights_determine_the_listed_tools_and_namespaces(api: Api) -> None:
    async with mcp(api, MINE, SHARED, read="kitchen*") as session:
        assert await names(session) == ["get_memory", "search_memories", "get_context"]
    async with mcp(api, MINE, SHARED, read="kitchen*", write=MINE) as session:
        create, _, search, _ = (await session.list_tools()).tools
        assert "namespace" not in create.inputSchema["properties"]
        assert search.inputSchema["properties"]["namespace"]["enum"] == [MINE, SHARED]


async def test_the_namespace_parameter_is_optional_for_a_key_with_a_single_exact_namespace(api: Api) -> None:
    async with mcp(api, write=MINE) as session:
        memories = parsed(await session.call_tool("search_memories", {}))["memories"]
        assert {each["namespace"] for each in memories} == {MINE}


@pytest.mark.parametrize(
    ("rights", "namespaces", "status"),
    [
        ({}, [MINE], 401),
        ({"read": MINE}, [THEIRS], 403),
        ({"read": MINE}, [MINE, THEIRS], 403),
        ({"read": "*"}, [], 422),
    ],
)
async def test_mcp_and_tool_endpoints_reject_missing_rights_or_namespaces(
    api: Api, rights: dict[str, str], namespaces: list[str], status: int
) -> None:
    params = {"namespace": namespaces}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with api.client(**rights) as client:
        answers = [
            await client.post("/mcp", params=params, json=ping),
            await client.get("/v1/tools", params=params),
            await client.post("/v1/tools/search_memories", params=params, json={"input": {}}),
        ]
    assert [answer.status_code for answer in answers] == [status] * 3
    assert all(answer.headers["content-type"] == "application/problem+json" for answer in answers)


async def test_mcp_rejects_malformed_messages_and_get_requests(api: Api) -> None:
    async with serve_app(api.app) as url, httpx.AsyncClient(base_url=url) as client:
        headers = {
            "Authorization": f"Bearer {api.keys.add(read=MINE)}",
            "Accept": "application/json, text/event-stream",
        }
        assert (await client.get("/mcp", headers=headers)).status_code == 405
        for body in (b"", b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff"):
            answer = await client.post("/mcp", content=body, headers=headers | {"Content-Type": "application/json"})
            assert 400 <= answer.status_code < 500, body


async def test_tool_definitions_and_results_are_available_over_plain_http(api: Api, toolset: Toolset) -> None:
    params = {"namespace": MINE}
    async with api.client(write="kitchen/*") as client:
        listed = (await client.get("/v1/tools", params=params)).json()["tools"]
        assert [tool["name"] for tool in listed] == ALL and all(tool["strict"] for tool in listed)
        found = await client.post("/v1/tools/search_memories", params=params, json={"input": {"query": "allergic"}})
        wrong = await client.post("/v1/tools/create_memory", params=params, json={"input": {"text": ""}})
        unknown = await client.post("/v1/tools/forget_all", params=params, json={"input": {}})
    assert json.loads(found.json()["content"])["memories"][0]["text"] == "User is allergic to peanuts."
    assert [each.json()["is_error"] for each in (found, wrong, unknown)] == [False, True, True]
    assert toolset.commands.seen == []
