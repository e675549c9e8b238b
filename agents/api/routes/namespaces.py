"""Lists namespaces and changes a namespace as a whole. The changes are irreversible, for administrators only, and audited."""

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
from agents.api.memories.change_requests import Uninstall
from agents.api.ports import Ports, PortsOf
from agents.api.routes.changes import DONE, PENDING, Reason
from sinks.access.audit import Audited
from sinks.memories.namespaces import NamespaceSummary

router = APIRouter(prefix="/v1/namespaces", tags=["namespaces"])


class NamespacePage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Namespaces by name. `next` is the cursor of the following page, absent on the last page."""

    namespaces: tuple[NamespaceSummary, ...]
    next: str | None = None


class NamespacePlace(Struct, frozen=True):
    """The place that a cursor of namespaces encodes."""

    namespace: str


@router.get("", openapi_extra=documented(NamespacePage))
async def list_namespaces(
    caller: CallerOf,
    ports: PortsOf,
    containing: Annotated[str, Query(max_length=256, description="Namespaces whose names contain this text.")] = "",
    limit: LimitOf = 100,
    cursor: CursorOf = None,
    order: Annotated[
        Literal["name", "size"],
        Query(description="By name, or by number of live memories, largest first (one page only)."),
    ] = "name",
) -> Response:
    """List namespaces with memories that the key may read, in pages."""
    if order == "size":
        return await largest_namespaces(caller, ports, containing, limit)
    after = decode_cursor(cursor, NamespacePlace, containing).namespace if cursor else ""
    patterns = {grant.namespaces for grant in caller.grants}
    found = await ports.namespaces.page(patterns, containing=containing, after=after, limit=limit + 1)
    page = found[:limit]
    next_cursor = encode_cursor(NamespacePlace(page[-1].namespace), containing) if len(found) > limit else None
    allowed = tuple(each for each in page if caller.may("read", each.namespace))  # excludes the namespaces of replays
    return json_response(NamespacePage(namespaces=allowed, next=next_cursor))


async def largest_namespaces(caller: Caller, ports: Ports, containing: str, limit: int) -> Response:
    patterns = {grant.namespaces for grant in caller.grants}
    found = await ports.namespaces.largest(patterns, containing=containing, limit=limit)
    return json_response(NamespacePage(namespaces=tuple(each for each in found if caller.may("read", each.namespace))))


@router.get("/erasure", openapi_extra=documented(OwnNamespace))
async def foresee_namespace_erasure(
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace to erase.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """Preview the erasure of a namespace, without its archived messages. It needs the same rights."""
    caller.require("admin", namespace)
    return json_response(await preview_namespace_erasure(ports.owners, namespace))


@router.delete("", openapi_extra=documented(CommandResult, description=DONE, with_same_body=PENDING))
async def purge_namespace(
    namespace: Annotated[str, Query(min_length=1, max_length=256, description="The namespace to erase.")],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
    reason: Reason = None,
) -> Response:
    """Erase a namespace irreversibly: memories, versions, vectors, cached answers, archived messages.

    From then on, older input is rejected.
    """
    return await change_namespace(ports, caller, "purge", namespace, key, reason=reason)


@router.post(
    "/uninstall",
    openapi_extra=documented(CommandResult, request_body=Uninstall, description=DONE, with_same_body=PENDING),
)
async def uninstall_app(
    gone: Annotated[Uninstall, Depends(json_body(Uninstall))],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Report that an app was removed. Its memories remain unless `purge` is true."""
    return await change_namespace(ports, caller, "uninstall", gone.namespace, key, purge=gone.purge, reason=gone.reason)


async def change_namespace(
    ports: Ports, caller: Caller, kind: CommandKind, namespace: str, key: str | None, **fields: Any
) -> Response:
    """Records the action in the audit log, then sends the command; without the audit entry nothing changes."""
    caller.require("admin", namespace)
    command = build_command(ports, caller, kind, namespace, key, **fields)
    if (repeated := await earlier_answer(ports, command, key)) is not None:
        return repeated
    details = {"command_id": command.command_id} | fields
    action = f"namespace.{kind}"
    await ports.audit.record(
        Audited(at=command.at, actor=caller.actor, action=action, subject=namespace, details=details)
    )
    return await send_and_answer(ports, command)
