"""The agent tools over the Model Context Protocol's streamable HTTP, behind the same keys as everything else."""

from typing import Final

from fastapi import APIRouter, Request, Response

from agents.api import openapi
from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import read_json
from agents.api.ports import PortsOf
from agents.api.tools.authorisation import NamespacesOf, tools
from agents.api.tools.mcp import McpResponse
from schemas import codec

router = APIRouter(prefix="/mcp", tags=["agents"])


MESSAGE: Final = {
    "application/json": {"schema": {"type": "object", "description": "A message of JSON-RPC 2.0, as MCP has it."}}
}
SPOKEN: Final = {
    "requestBody": {"required": True, "content": MESSAGE},
    "responses": {
        "200": {"description": "The answer to a request.", "content": MESSAGE},
        "202": {"description": "Taken: a notification has no answer."},
    },
}


@router.post("", openapi_extra=SPOKEN)
async def speak_mcp(request: Request, caller: CallerOf, ports: PortsOf, namespace: NamespacesOf = None) -> Response:
    """One message of MCP. Each is answered by itself, without a session, as JSON."""
    wired = tools(ports, caller, namespace)
    body = await read_json(request)
    codec.parse(body)  # what is no JSON at all the SDK would answer with 500
    return McpResponse(wired, openapi.VERSION, body)
