"""Changing memories: each is a command to the curator, whose outcome is the answer."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from msgspec.structs import replace

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.memories import IfMatch, MemoryId, as_sent, missing, reached, version_meant
from agents.api.http.json_bodies import described, takes
from agents.api.http.problems import conflict
from agents.api.memories.apply_change import CommandKind, IdempotencyKey, Settled, ordered, replayed, sent, settle
from agents.api.memories.change_bodies import ChangedMemory, NewMemory, Undo
from agents.api.ports import Ports, PortsOf
from schemas.memories.memories import Memory

router = APIRouter(prefix="/v1/memories", tags=["changes"], dependencies=[Depends(as_sent)])

DONE = "Done."
LATER = {202: "It will be carried out: `Location` tells what came of it."}
REINFORCED = {200: "It was known word for word, and is reinforced."}
Reason = Annotated[str | None, Query(max_length=1_000, description="Kept with the version.")]


@router.post("", openapi_extra=described(Settled, takes=NewMemory, status=201, said="Made.", alike=REINFORCED | LATER))
async def create_memory(
    new: Annotated[NewMemory, Depends(takes(NewMemory))], caller: CallerOf, ports: PortsOf, key: IdempotencyKey = None
) -> Response:
    """Make a memory by hand. One that is known word for word is reinforced instead."""
    caller.require("write", new.namespace)
    fields = new.fields()
    return await settle(ports, caller, "create", fields.pop("namespace"), key, **fields)


@router.patch("/{memory_id}", openapi_extra=described(Settled, takes=ChangedMemory, said=DONE, alike=LATER))
async def update_memory(
    memory_id: MemoryId,
    changed: Annotated[ChangedMemory, Depends(takes(ChangedMemory))],
    caller: CallerOf,
    ports: PortsOf,
    if_match: IfMatch = None,
    key: IdempotencyKey = None,
) -> Response:
    """Change a live memory: its next version. What it said before stays readable among its versions."""
    return await change(ports, caller, "update", memory_id, if_match, key, **changed.fields())


@router.delete("/{memory_id}", openapi_extra=described(Settled, said=DONE, alike=LATER))
async def delete_memory(
    memory_id: MemoryId,
    caller: CallerOf,
    ports: PortsOf,
    if_match: IfMatch = None,
    key: IdempotencyKey = None,
    reason: Reason = None,
) -> Response:
    """Delete a memory. Its versions stay, and an undo brings it back; to erase for good, purge the namespace."""
    return await change(ports, caller, "delete", memory_id, if_match, key, reason=reason)


@router.post("/{memory_id}/undo", openapi_extra=described(Settled, takes=Undo, said=DONE, alike=LATER))
async def undo_change(
    memory_id: MemoryId,
    undo: Annotated[Undo, Depends(takes(Undo))],
    caller: CallerOf,
    ports: PortsOf,
    if_match: IfMatch = None,
    key: IdempotencyKey = None,
) -> Response:
    """Take back a change: the memory is again as it was before it, a deleted one too. Undoing its creation deletes it."""
    fields = {"version": undo.version, "reason": undo.reason}
    return await change(ports, caller, "undo", memory_id, if_match, key, **fields)


@router.put("/{memory_id}/pin", openapi_extra=described(Settled, said=DONE, alike=LATER))
async def pin_memory(memory_id: MemoryId, caller: CallerOf, ports: PortsOf, if_match: IfMatch = None) -> Response:
    """Pin a memory: no limit takes it."""
    return await change(ports, caller, "update", memory_id, if_match, None, pinned=True)


@router.delete("/{memory_id}/pin", openapi_extra=described(Settled, said=DONE, alike=LATER))
async def unpin_memory(memory_id: MemoryId, caller: CallerOf, ports: PortsOf, if_match: IfMatch = None) -> Response:
    """Unpin a memory."""
    return await change(ports, caller, "update", memory_id, if_match, None, pinned=False)


async def change(
    ports: Ports,
    caller: Caller,
    kind: CommandKind,
    memory_id: str,
    if_match: str | None,
    key: str | None,
    **fields: Any,
) -> Response:
    """Does what is asked of a memory, once for each key. Raises Problem."""
    memory = await reached(ports, caller, "write", memory_id)
    command = ordered(ports, caller, kind, memory.namespace, key, memory_id=memory_id, **fields)
    if (again := await replayed(ports, command, key)) is not None:
        return again
    require_changeable(memory, kind)
    return await sent(ports, replace(command, if_version=version_meant(memory, if_match)))


def require_changeable(memory: Memory, kind: CommandKind) -> None:
    """What the curator would reject as well, said before it is sent."""
    if memory.status == "deleted" and kind != "undo":
        raise missing(memory.memory_id)
    if memory.status != "active" and kind == "update":
        raise conflict(f"memory {memory.memory_id!r} is {memory.status}: only a live one can be changed")
