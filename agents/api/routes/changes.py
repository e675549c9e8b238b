"""Changes of memories: each request becomes a command to the curator, and its outcome is the response."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from msgspec.structs import replace

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.memories import (
    IfMatch,
    MemoryId,
    expected_version,
    load_memory,
    memory_not_found,
    refuse_escaped_slash,
)
from agents.api.http.json_bodies import documented, json_body
from agents.api.http.problems import conflict
from agents.api.memories.apply_change import (
    CommandKind,
    CommandResult,
    IdempotencyKey,
    apply_change,
    build_command,
    earlier_answer,
    send_and_answer,
)
from agents.api.memories.change_requests import ChangedMemory, MemoryErasure, NewMemory, Undo
from agents.api.ports import Ports, PortsOf
from schemas.memories.memories import Memory

router = APIRouter(prefix="/v1/memories", tags=["changes"], dependencies=[Depends(refuse_escaped_slash)])

DONE = "Done."
PENDING = {202: "Accepted; `Location` is the path of the outcome."}
REINFORCED = {200: "A memory with the same text existed and is reinforced."}
Reason = Annotated[str | None, Query(max_length=1_000, description="Stored with the version.")]


@router.post(
    "",
    openapi_extra=documented(
        CommandResult, request_body=NewMemory, status=201, description="Created.", with_same_body=REINFORCED | PENDING
    ),
)
async def create_memory(
    new: Annotated[NewMemory, Depends(json_body(NewMemory))],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Create a memory. If the namespace has a memory with the same text, it is reinforced instead."""
    caller.require("write", new.namespace)
    fields = new.fields()
    return await apply_change(ports, caller, "create", fields.pop("namespace"), key, **fields)


@router.patch(
    "/{memory_id}",
    openapi_extra=documented(CommandResult, request_body=ChangedMemory, description=DONE, with_same_body=PENDING),
)
async def update_memory(
    memory_id: MemoryId,
    changed: Annotated[ChangedMemory, Depends(json_body(ChangedMemory))],
    caller: CallerOf,
    ports: PortsOf,
    if_match: IfMatch = None,
    key: IdempotencyKey = None,
) -> Response:
    """Change a live memory, as a new version. Its versions keep the previous contents."""
    return await change_memory(ports, caller, "update", memory_id, if_match, key, **changed.fields())


@router.delete("/{memory_id}", openapi_extra=documented(CommandResult, description=DONE, with_same_body=PENDING))
async def delete_memory(
    memory_id: MemoryId,
    caller: CallerOf,
    ports: PortsOf,
    if_match: IfMatch = None,
    key: IdempotencyKey = None,
    reason: Reason = None,
) -> Response:
    """Delete a memory. Its versions remain, and an undo restores it; to delete it irreversibly, erase it."""
    return await change_memory(ports, caller, "delete", memory_id, if_match, key, reason=reason)


@router.post(
    "/{memory_id}/undo",
    openapi_extra=documented(CommandResult, request_body=Undo, description=DONE, with_same_body=PENDING),
)
async def undo_change(
    memory_id: MemoryId,
    undo: Annotated[Undo, Depends(json_body(Undo))],
    caller: CallerOf,
    ports: PortsOf,
    if_match: IfMatch = None,
    key: IdempotencyKey = None,
) -> Response:
    """Revert a change: the memory gets its state from before the change, also if it was deleted. Undoing its creation deletes
    it."""
    fields = {"version": undo.version, "reason": undo.reason}
    return await change_memory(ports, caller, "undo", memory_id, if_match, key, **fields)


@router.post(
    "/{memory_id}/erase",
    openapi_extra=documented(CommandResult, request_body=MemoryErasure, description=DONE, with_same_body=PENDING),
)
async def erase_memory(
    memory_id: MemoryId,
    erasure: Annotated[MemoryErasure, Depends(json_body(MemoryErasure))],
    caller: CallerOf,
    ports: PortsOf,
    if_match: IfMatch = None,
    key: IdempotencyKey = None,
) -> Response:
    """Erase a memory of any status irreversibly, with its versions and vector. No memory is made of its source messages again.

    The archive keeps these messages; searches hide them. Erasing it again changes nothing, and says so (`reason`).
    """
    memory = await ports.stored.get(memory_id)
    namespace = memory.namespace if memory is not None else await ports.stored.erased_from(memory_id)
    if namespace is None or not caller.may("read", namespace):
        raise memory_not_found(memory_id)
    caller.require("admin", namespace)
    fields = {"keep_messages": erasure.keep_messages, "reason": erasure.reason}
    command = build_command(ports, caller, "erase", namespace, key, memory_id=memory_id, **fields)
    if (repeated := await earlier_answer(ports, command, key)) is not None:
        return repeated
    expected = None if memory is None else expected_version(memory, if_match)
    return await send_and_answer(ports, replace(command, if_version=expected))


@router.put("/{memory_id}/pin", openapi_extra=documented(CommandResult, description=DONE, with_same_body=PENDING))
async def pin_memory(memory_id: MemoryId, caller: CallerOf, ports: PortsOf, if_match: IfMatch = None) -> Response:
    """Pin a memory, which protects it from limits."""
    return await change_memory(ports, caller, "update", memory_id, if_match, None, pinned=True)


@router.delete("/{memory_id}/pin", openapi_extra=documented(CommandResult, description=DONE, with_same_body=PENDING))
async def unpin_memory(memory_id: MemoryId, caller: CallerOf, ports: PortsOf, if_match: IfMatch = None) -> Response:
    """Unpin a memory."""
    return await change_memory(ports, caller, "update", memory_id, if_match, None, pinned=False)


async def change_memory(
    ports: Ports,
    caller: Caller,
    kind: CommandKind,
    memory_id: str,
    if_match: str | None,
    key: str | None,
    **fields: Any,
) -> Response:
    """Applies a change to a memory, at most once per idempotency key. Raises Problem."""
    memory = await load_memory(ports, caller, "write", memory_id)
    command = build_command(ports, caller, kind, memory.namespace, key, memory_id=memory_id, **fields)
    if (repeated := await earlier_answer(ports, command, key)) is not None:
        return repeated
    require_changeable(memory, kind)
    return await send_and_answer(ports, replace(command, if_version=expected_version(memory, if_match)))


def require_changeable(memory: Memory, kind: CommandKind) -> None:
    """Raises Problem for changes that the curator would reject, before the command is sent."""
    if memory.status == "deleted" and kind != "undo":
        raise memory_not_found(memory.memory_id)
    if memory.status != "active" and kind == "update":
        raise conflict(f"memory {memory.memory_id!r} is {memory.status}: only live memories can be changed")
