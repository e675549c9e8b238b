"""Exports what is stored about a user, and erases it everywhere, with a receipt."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from msgspec import Meta

from agents.api.access import export_audit
from agents.api.access.authentication import CallerOf
from agents.api.access.erasure import ErasurePreview, erasure_scope, preview_erasure, require_rights
from agents.api.access.user_export import ExportedData, user_export_pages
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.json_lines import documented_lines, streamed_lines
from agents.api.memories.apply_change import IdempotencyKey
from agents.api.ports import PortsOf
from agents.api.routes.erasures import IN_PROGRESS, begin_erasure
from schemas.conversations.user_settings import User
from schemas.erasure.receipts import Receipt

router = APIRouter(prefix="/v1/users", tags=["erasures"])

Id = Annotated[str, Query(min_length=1, max_length=256)]


class ErasedUser(User, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The user to erase, and the reason."""

    reason: Annotated[str, Meta(max_length=4_000)] | None = None


@router.post("/purge", openapi_extra=documented(Receipt, request_body=ErasedUser, with_same_body=IN_PROGRESS))
async def purge_user(
    requested: Annotated[ErasedUser, Depends(json_body(ErasedUser))],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Erase a user irreversibly: the user's own namespaces, memories from the user's conversations in other namespaces,
    messages, windows, cached answers, parked requests and dead letters. The receipt says what was deleted, and what
    remains until when.

    The key needs every right in all namespaces concerned, including shared ones.
    """
    user = User(user_id=requested.user_id, tenant_id=requested.tenant_id, app_id=requested.app_id)
    require_rights(caller, "admin", await erasure_scope(ports.owners, ports.policies, user))
    subject: dict[str, Any] = {"user_id": user.user_id, "tenant_id": user.tenant_id, "app_id": user.app_id}
    return await begin_erasure(ports, caller, "user", key, requested.reason, **subject)


@router.get("/purge", openapi_extra=documented(ErasurePreview))
async def foresee_purge(
    caller: CallerOf, ports: PortsOf, user_id: Id, tenant_id: Id | None = None, app_id: Id | None = None
) -> Response:
    """Preview the erasure of a user. It needs the same rights."""
    user = User(user_id=user_id, tenant_id=tenant_id, app_id=app_id)
    scope = await erasure_scope(ports.owners, ports.policies, user)
    require_rights(caller, "admin", scope)
    return json_response(await preview_erasure(ports.owners, user, scope))


@router.get("/export", openapi_extra=documented_lines(ExportedData, "One memory or message per line."))
async def export_user(
    caller: CallerOf, ports: PortsOf, user_id: Id, tenant_id: Id | None = None, app_id: Id | None = None
) -> Response:
    """Export what is stored about a user as JSON Lines: memories of any status from the user's own namespaces, with their
    versions; memories of shared namespaces that the user told; and the user's messages. If the export fails, the connection
    breaks.

    The key needs the right to read in all namespaces that an erasure of the user concerns. The export is in the audit log.
    """
    user = User(user_id=user_id, tenant_id=tenant_id, app_id=app_id)
    scope = await erasure_scope(ports.owners, ports.policies, user)
    require_rights(caller, "read", scope)
    await ports.audit.record(export_audit.user_export(ports.clock(), caller.actor, user))
    return await streamed_lines(user_export_pages(ports.exports, ports.archive, user, scope))
