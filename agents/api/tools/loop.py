"""The agent tools for the tool runner of the anthropic SDK, `client.beta.messages.tool_runner(tools=runnable(tools), ...)`."""

from typing import Any, TypeAlias

from anthropic import beta_async_tool
from anthropic.lib.tools import BetaAsyncFunctionTool, ToolError
from anthropic.types import ToolParam

from agents.api.tools.tools import Tools

Runnable: TypeAlias = BetaAsyncFunctionTool[Any]


def runnable(tools: Tools) -> list[Runnable]:
    """Returns the tools for the runner. Errors become tool results with `is_error`."""
    return [runnable_tool(tools, definition) for definition in tools.definitions()]


def runnable_tool(tools: Tools, definition: ToolParam) -> Runnable:
    async def run(**arguments: Any) -> str:
        answer = await tools.call(definition["name"], arguments)
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
