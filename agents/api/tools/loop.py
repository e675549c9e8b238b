"""The agent tools for the tool loop of the anthropic SDK, `client.beta.messages.tool_runner(tools=runnable(tools), ...)`."""

from typing import Any, TypeAlias

from anthropic import beta_async_tool
from anthropic.lib.tools import BetaAsyncFunctionTool, ToolError
from anthropic.types import ToolParam

from agents.api.tools.tools import Tools

Runnable: TypeAlias = BetaAsyncFunctionTool[Any]


def runnable(tools: Tools) -> list[Runnable]:
    """Each tool as the loop runs it; what comes back as an error has `is_error` in its result."""
    return [run_by_the_loop(tools, definition) for definition in tools.definitions()]


def run_by_the_loop(tools: Tools, definition: ToolParam) -> Runnable:
    async def run(**given: Any) -> str:
        answer = await tools.call(definition["name"], given)
        if answer.is_error:
            raise ToolError(answer.text)
        return answer.text

    return beta_async_tool(
        run,
        name=definition["name"],
        description=definition["description"],
        input_schema=definition["input_schema"],
        strict=definition["strict"],
    )
