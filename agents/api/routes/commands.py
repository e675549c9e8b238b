"""The outcome of a change whose response was 202."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.memories.apply_change import RETRY_AFTER_S, CommandResult, changed_memory, command_result
from agents.api.ports import PortsOf

router = APIRouter(prefix="/v1/commands", tags=["changes"])


@router.get("/{command_id}", openapi_extra=documented(CommandResult))
async def get_command(
    command_id: Annotated[str, Path(min_length=1, max_length=256)],
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace of the command.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """The outcome of a command, whether it was sent over HTTP or by a Kafka client. Only outcomes are stored, so an unknown
    command is `pending` too."""
    caller.require("read", namespace)
    outcome = await ports.commands.outcome(namespace, command_id)
    if outcome is None:
        pending = CommandResult(command_id=command_id, namespace=namespace, status="pending")
        return json_response(pending, headers={"Retry-After": str(RETRY_AFTER_S)})
    return json_response(command_result(command_id, outcome, await changed_memory(ports, outcome)))
