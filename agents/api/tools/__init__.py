"""What agents are given to use memories by: tools for any loop, and the same over MCP."""
