"""The agent tools in the tool loop of the anthropic SDK, against the local Messages server."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from anthropic import AsyncAnthropic, BadRequestError

from agents.api.tools.tools import Tools
from deploy.samples.tool_runner import runnable
from tests.fakes.toolset import MINE, THEIRS, Toolset, populated_toolset
from tests.servers.messages.checks import KEY, MODELS
from tests.servers.messages.server import MessagesServer


class ToolsOfApi:
    """The tools as the client sample has them, without HTTP."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    async def tools(self, *_: str) -> list[Any]:
        return self._tools.definitions()

    async def use_tool(self, tool_use: Any, *_: str) -> Any:
        answer = await self._tools.call(tool_use.name, tool_use.input)
        return {
            "type": "tool_result",
            "tool_use_id": tool_use.id,
            "content": answer.text,
            "is_error": answer.is_error,
        }


@pytest.fixture
def toolset() -> Toolset:
    return populated_toolset()


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    async with MessagesServer() as server:
        yield server


def asking(server: MessagesServer) -> AsyncAnthropic:
    return AsyncAnthropic(api_key=KEY, base_url=server.url, max_retries=0)


def use(name: str, **given: Any) -> dict[str, Any]:
    return {"name": name, "input": given}


def uses(*used: dict[str, Any]) -> str:
    return "use:" + json.dumps(used)


async def talked(server: MessagesServer, toolset: Toolset) -> Any:
    """The last message of a loop that runs until the model uses no tool any more."""
    async with asking(server) as client:
        runner = client.beta.messages.tool_runner(
            model=MODELS[0],
            max_tokens=1_000,
            tools=await runnable(ToolsOfApi(toolset.tools())),
            thread=False,  # the local server holds no conversations
            messages=[{"role": "user", "content": "I keep bees. What may I not eat?"}],
        )
        return await runner.until_done()


def results(server: MessagesServer) -> list[dict[str, Any]]:
    """Returns the tool results of the last request."""
    messages = server.seen[-1]["messages"]
    return [block for message in messages[1:] for block in message["content"] if block["type"] == "tool_result"]


def text_of(result: dict[str, Any]) -> str:
    content = result["content"]
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


async def test_the_sdk_tool_loop_creates_searches_and_reads_memories_until_the_model_answers(
    server: MessagesServer, toolset: Toolset
) -> None:
    allergy = "id of User is allergic to peanuts."
    server.script(
        uses(use("create_memory", text="User keeps bees."), use("search_memories", query="allergic")),
        uses(use("get_memory", memory_id=allergy, full=True)),
        "text:No peanuts.",
    )
    message = await talked(server, toolset)
    assert message.content[0].text == "No peanuts."
    created, found, read = [json.loads(text_of(each)) for each in results(server)]
    assert created["change"] == "created"
    assert [each["memory_id"] for each in found["memories"]] == [allergy]
    assert read["memory"]["full_text"] == "User carries an injector."
    assert [command.text for command in toolset.commands.seen] == ["User keeps bees."]
    assert {tool["name"] for tool in server.seen[0]["tools"]} == {
        "create_memory",
        "get_memory",
        "search_memories",
        "get_context",
    }


async def test_tool_errors_are_returned_as_results_with_is_error_and_the_loop_continues(
    server: MessagesServer, toolset: Toolset
) -> None:
    server.script(
        uses(use("create_memory", text=""), use("search_memories", query="milk", namespace=THEIRS)),
        uses(use("search_memories", query="allergic")),
        "text:No peanuts.",
    )
    await talked(server, toolset)
    empty, foreign, found = results(server)
    assert (empty["is_error"], foreign["is_error"], found.get("is_error", False)) == (True, True, False)
    assert "length >= 1" in text_of(empty)
    assert MINE in text_of(foreign) and "milk" not in text_of(foreign)
    assert toolset.commands.seen == []


async def test_a_custom_loop_can_send_the_tool_result_blocks_of_the_handler(
    server: MessagesServer, toolset: Toolset
) -> None:
    tools = toolset.tools()
    server.script(uses(use("search_memories", query="allergic"), use("forget_all")), "text:No peanuts.")
    messages: list[Any] = [{"role": "user", "content": "What may I not eat?"}]
    async with asking(server) as client:
        while True:
            message = await client.messages.create(
                model=MODELS[0], max_tokens=1_000, tools=tools.definitions(), messages=messages
            )
            used = [block for block in message.content if block.type == "tool_use"]
            if not used:
                break
            messages += [
                {"role": "assistant", "content": message.content},
                {"role": "user", "content": [await ToolsOfApi(tools).use_tool(block) for block in used]},
            ]
    assert [each["is_error"] for each in results(server)] == [False, True]


async def test_the_test_server_rejects_strict_tools_with_unsupported_schema_keywords(
    server: MessagesServer, toolset: Toolset
) -> None:
    (tool, *_) = toolset.tools().definitions()
    tool["input_schema"]["properties"]["content"]["maxLength"] = 200  # type: ignore[index]
    async with asking(server) as client:
        with pytest.raises(BadRequestError, match="unsupported keyword"):
            await client.messages.create(
                model=MODELS[0], max_tokens=10, tools=[tool], messages=[{"role": "user", "content": "x"}]
            )
