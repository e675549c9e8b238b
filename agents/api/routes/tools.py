"""The agent tools over plain HTTP, for chat services that run the tool loop themselves."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.ports import PortsOf
from agents.api.tools.authorisation import NamespacesOf, tools
from agents.api.tools.inputs import DELETING, TOOLS

router = APIRouter(prefix="/v1/tools", tags=["agents"])


class Definitions(Struct, frozen=True):
    """`tools` of a request to the Messages API, as they are."""

    tools: list[dict[str, Any]]


class Use(Struct, frozen=True, forbid_unknown_fields=True):
    """`input` of a `tool_use` block, as it is."""

    input: Any


class Result(Struct, frozen=True):
    """`content` and `is_error` of the `tool_result` block that answers it."""

    content: str
    is_error: bool


@router.get("", openapi_extra=documented(Definitions))
async def list_tools(caller: CallerOf, ports: PortsOf, namespace: NamespacesOf = None) -> Response:
    """The tools that a model may use on the memories of these namespaces, as Anthropic tool definitions."""
    return json_response({"tools": tools(ports, caller, namespace).definitions()})


@router.post("/{name}", openapi_extra=documented(Result, takes=Use))
async def use_tool(
    name: Annotated[str, Path(min_length=1, max_length=128, description=f"One of {', '.join((*TOOLS, *DELETING))}.")],
    use: Annotated[Use, Depends(json_body(Use))],
    caller: CallerOf,
    ports: PortsOf,
    namespace: NamespacesOf = None,
) -> Response:
    """What a tool says to what a model gave it. What the model got wrong is a result with `is_error`, to be handed to it."""
    said = await tools(ports, caller, namespace).call(name, use.input)
    return json_response(Result(said.text, said.is_error))
