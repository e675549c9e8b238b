"""Agent tools: for any tool loop, over HTTP and over MCP."""
