"""memstream's tools for the tool runner of the anthropic SDK, over the HTTP API.

`client.beta.messages.tool_runner(tools=await runnable(memory, "kitchen/ada"), ...)`, with `Memstream` of memstream_client.py as
`memory`, calls memstream until the model answers.
"""

from typing import Any, Protocol, TypeAlias

from anthropic import beta_async_tool
from anthropic.lib.tools import BetaAsyncFunctionTool, ToolError
from anthropic.types import ToolUseBlock

Runnable: TypeAlias = BetaAsyncFunctionTool[Any]


class MemoryTools(Protocol):
    """The tools of a client (memstream_client.Memstream)."""

    async def tools(self, *namespaces: str) -> list[dict[str, Any]]: ...

    async def use_tool(self, tool_use: Any, *namespaces: str) -> dict[str, Any]: ...


async def runnable(memory: MemoryTools, *namespaces: str) -> list[Runnable]:
    """Returns the tools for the runner. Errors become tool results with `is_error`."""
    return [runnable_tool(memory, definition, namespaces) for definition in await memory.tools(*namespaces)]


def runnable_tool(memory: MemoryTools, definition: dict[str, Any], namespaces: tuple[str, ...]) -> Runnable:
    async def run(**arguments: Any) -> str:
        used = ToolUseBlock(type="tool_use", id=definition["name"], name=definition["name"], input=arguments)
        result = await memory.use_tool(used, *namespaces)
        if result["is_error"]:
            raise ToolError(result["content"])
        return str(result["content"])

    return beta_async_tool(
        run,
        name=definition["name"],
        description=definition["description"],
        input_schema=definition["input_schema"],
        strict=definition["strict"],
    )
