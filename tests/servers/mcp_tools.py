"""Runs an MCP server over the memories of a toolset on standard input and output: `python -m tests.servers.mcp_tools`."""

import asyncio

from agents.api.tools.mcp import serve_stdio
from tests.fakes.toolset import populated_toolset

if __name__ == "__main__":
    asyncio.run(serve_stdio(populated_toolset().tools()))
