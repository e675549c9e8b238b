"""The MCP endpoint of the API introduces itself as the installed package."""

import json
from importlib.metadata import version
from typing import Any

from tests.api import Api

ACCEPTED = {"Accept": "application/json, text/event-stream"}
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "chat-service", "version": "1"},
    },
}


async def test_half_an_emoji_in_a_tool_argument_is_replaced(api: Api) -> None:
    arguments = {"content": "User likes \ud83d", "kinds": ["fact"]}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "create_memory", "arguments": arguments},
    }
    answer = await api.client(write="app/ada").post(
        "/mcp",
        params={"namespace": "app/ada"},
        content=json.dumps(call),
        headers=ACCEPTED | {"Content-Type": "application/json"},
    )
    assert (answer.status_code, answer.json()["result"]["isError"]) == (200, False), answer.text
    assert [memory.text for memory in api.memories.rows.values()] == ["User likes \ufffd"]


async def test_an_mcp_client_is_told_the_version_of_the_package(api: Api) -> None:
    client = api.client(read="app/ada", write="app/ada")
    answer = await client.post("/mcp", params={"namespace": "app/ada"}, json=INITIALIZE, headers=ACCEPTED)
    assert answer.status_code == 200, answer.text
    assert answer.json()["result"]["serverInfo"] == {"name": "memstream", "version": version("memstream")}
