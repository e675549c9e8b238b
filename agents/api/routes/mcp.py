"""The agent tools over MCP (Model Context Protocol, streamable HTTP), with the same API keys as other routes."""

from typing import Final

from fastapi import APIRouter, Request, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import read_json
from agents.api.ports import PortsOf
from agents.api.tools.authorisation import NamespacesOf, authorised_tools
from agents.api.tools.mcp import McpResponse
from schemas import codec

router = APIRouter(prefix="/mcp", tags=["agents"])


JSON_RPC_MESSAGE: Final = {
    "application/json": {"schema": {"type": "object", "description": "A JSON-RPC 2.0 message of MCP."}}
}
MCP_DOCUMENTATION: Final = {
    "requestBody": {"required": True, "content": JSON_RPC_MESSAGE},
    "responses": {
        "200": {"description": "The response to a request.", "content": JSON_RPC_MESSAGE},
        "202": {"description": "Accepted: notifications have no response."},
    },
}


@router.post("", openapi_extra=MCP_DOCUMENTATION)
async def speak_mcp(request: Request, caller: CallerOf, ports: PortsOf, namespace: NamespacesOf = None) -> Response:
    """Send one MCP message. The response is JSON; there are no sessions."""
    tools = authorised_tools(ports, caller, namespace)
    body = codec.without_lone_surrogates(await read_json(request))
    codec.parse(body)  # the SDK would respond 500 to invalid JSON
    return McpResponse(tools, body)
