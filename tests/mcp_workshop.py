"""Runs an MCP server over the memories of a workshop on standard input and output: `python -m tests.mcp_workshop`."""

import asyncio

from agents.api.tools.mcp import serve_stdio
from tests.workshop import furnished

if __name__ == "__main__":
    asyncio.run(serve_stdio(furnished().tools(), "0.0.0"))
