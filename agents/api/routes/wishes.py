"""Reverts users' wishes to have something forgotten, as reported on `memory.activity`."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_body
from agents.api.memories.apply_change import CommandResult, IdempotencyKey, apply_change
from agents.api.memories.change_requests import UndoneWish
from agents.api.ports import PortsOf

router = APIRouter(prefix="/v1/wishes", tags=["changes"])

WishId = Annotated[str, Path(max_length=256, description="`wish_id` of the event on `memory.activity`.")]
PENDING = {202: "Accepted; `Location` is the path of the outcome."}


@router.post(
    "/{wish_id}/undo",
    openapi_extra=documented(CommandResult, request_body=UndoneWish, description="Done.", with_same_body=PENDING),
)
async def undo_wish(
    wish_id: WishId,
    undone: Annotated[UndoneWish, Depends(json_body(UndoneWish))],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Revert a user's wish that matched no memory (`memstream.wish.unknown`): search finds the messages again. A wish that
    removed memories ends when the last of them is restored."""
    caller.require("write", undone.namespace)
    fields = {"memory_id": wish_id, "reason": undone.reason}
    return await apply_change(ports, caller, "undo", undone.namespace, key, **fields)
