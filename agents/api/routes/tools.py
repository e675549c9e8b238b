"""The agent tools over plain HTTP, for chat services that run the tool loop themselves."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.ports import PortsOf
from agents.api.tools.authorisation import NamespacesOf, authorised_tools
from agents.api.tools.definitions import DELETE_TOOLS, TOOLS

router = APIRouter(prefix="/v1/tools", tags=["agents"])


class Definitions(Struct, frozen=True):
    """The `tools` of a request to the Messages API, unchanged."""

    tools: list[dict[str, Any]]


class Use(Struct, frozen=True, forbid_unknown_fields=True):
    """The `input` of a `tool_use` block, unchanged."""

    input: Any


class Result(Struct, frozen=True):
    """The `content` and `is_error` of the `tool_result` block."""

    content: str
    is_error: bool


@router.get("", openapi_extra=documented(Definitions))
async def list_tools(caller: CallerOf, ports: PortsOf, namespace: NamespacesOf = None) -> Response:
    """The tools for the memories of these namespaces, as Anthropic tool definitions."""
    return json_response({"tools": authorised_tools(ports, caller, namespace).definitions()})


@router.post("/{name}", openapi_extra=documented(Result, request_body=Use))
async def use_tool(
    name: Annotated[
        str, Path(min_length=1, max_length=128, description=f"One of {', '.join((*TOOLS, *DELETE_TOOLS))}.")
    ],
    use: Annotated[Use, Depends(json_body(Use))],
    caller: CallerOf,
    ports: PortsOf,
    namespace: NamespacesOf = None,
) -> Response:
    """Run a tool with a model's input. Errors of the model are results with `is_error`, to be passed to it."""
    result = await authorised_tools(ports, caller, namespace).call(name, use.input)
    return json_response(Result(result.text, result.is_error))
