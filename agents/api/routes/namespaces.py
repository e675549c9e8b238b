"""Which namespaces there are; and what concerns one as a whole and cannot be taken back: for administrators, and audited."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.erasure import OwnNamespace, preview_namespace_erasure
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor, encode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.memories.apply_change import (
    CommandKind,
    CommandResult,
    IdempotencyKey,
    build_command,
    earlier_answer,
    send_and_answer,
)
from agents.api.memories.change_bodies import Uninstall
from agents.api.ports import Ports, PortsOf
from agents.api.routes.changes import DONE, LATER, Reason
from sinks.access.audit import Audited
from sinks.memories.namespaces import NamespaceSummary

router = APIRouter(prefix="/v1/namespaces", tags=["namespaces"])


class NamespacePage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """By name; `next` is the cursor of the page behind them, absent on the last."""

    namespaces: tuple[NamespaceSummary, ...]
    next: str | None = None


class NamespacePlace(Struct, frozen=True):
    """Where a page of namespaces ended."""

    namespace: str


@router.get("", openapi_extra=documented(NamespacePage))
async def list_namespaces(
    caller: CallerOf,
    ports: PortsOf,
    containing: Annotated[str, Query(max_length=256, description="Those whose names hold this text.")] = "",
    limit: LimitOf = 100,
    cursor: CursorOf = None,
    order: Annotated[
        Literal["name", "size"],
        Query(description="By name; or those with most live memories first, on one page alone."),
    ] = "name",
) -> Response:
    """Namespaces with memories that the key may read, a page at a time."""
    if order == "size":
        return await largest_namespaces(caller, ports, containing, limit)
    after = decode_cursor(cursor, NamespacePlace, containing).namespace if cursor else ""
    patterns = {grant.namespaces for grant in caller.grants}
    found = await ports.namespaces.page(patterns, containing=containing, after=after, limit=limit + 1)
    page = found[:limit]
    more = encode_cursor(NamespacePlace(page[-1].namespace), containing) if len(found) > limit else None
    allowed = tuple(each for each in page if caller.may("read", each.namespace))  # none of a replay
    return json_response(NamespacePage(namespaces=allowed, next=more))


async def largest_namespaces(caller: Caller, ports: Ports, containing: str, limit: int) -> Response:
    patterns = {grant.namespaces for grant in caller.grants}
    found = await ports.namespaces.largest(patterns, containing=containing, limit=limit)
    return json_response(NamespacePage(namespaces=tuple(each for each in found if caller.may("read", each.namespace))))


@router.get("/erasure", openapi_extra=documented(OwnNamespace))
async def foresee_namespace_erasure(
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="What would be erased.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """What erasing a namespace would take, besides its archived messages; nothing is erased. It needs the same rights."""
    caller.require("admin", namespace)
    return json_response(await preview_namespace_erasure(ports.owners, namespace))


@router.delete("", openapi_extra=documented(CommandResult, description=DONE, with_same_body=LATER))
async def purge_namespace(
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="What is erased.")],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
    reason: Reason = None,
) -> Response:
    """Erase a namespace for good: memories, versions, vectors, cached answers, archived messages.

    Nothing that was said before comes back.
    """
    return await change_namespace(ports, caller, "purge", namespace, key, reason=reason)


@router.post(
    "/uninstall", openapi_extra=documented(CommandResult, takes=Uninstall, description=DONE, with_same_body=LATER)
)
async def uninstall_app(
    gone: Annotated[Uninstall, Depends(json_body(Uninstall))],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Say that an app is gone. Its memories stay, unless they are to be purged."""
    return await change_namespace(ports, caller, "uninstall", gone.namespace, key, purge=gone.purge, reason=gone.reason)


async def change_namespace(
    ports: Ports, caller: Caller, kind: CommandKind, namespace: str, key: str | None, **fields: Any
) -> Response:
    """Audited first: what cannot be told is not done."""
    caller.require("admin", namespace)
    command = build_command(ports, caller, kind, namespace, key, **fields)
    if (again := await earlier_answer(ports, command, key)) is not None:
        return again
    details = {"command_id": command.command_id} | fields
    action = f"namespace.{kind}"
    await ports.audit.record(
        Audited(at=command.at, actor=caller.actor, action=action, subject=namespace, details=details)
    )
    return await send_and_answer(ports, command)
