"""Erases a user everywhere, with a receipt."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from msgspec import Meta

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.erasure import ErasurePreview, ErasureScope, erasure_scope, preview_erasure
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.memories.apply_change import IdempotencyKey
from agents.api.ports import PortsOf
from agents.api.routes.erasures import IN_PROGRESS, begin_erasure
from schemas.conversations.user_settings import User
from schemas.erasure.receipts import Receipt

router = APIRouter(prefix="/v1/users", tags=["erasures"])


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
    require_rights(caller, await erasure_scope(ports.owners, ports.policies, user))
    subject: dict[str, Any] = {"user_id": user.user_id, "tenant_id": user.tenant_id, "app_id": user.app_id}
    return await begin_erasure(ports, caller, "user", key, requested.reason, **subject)


@router.get("/purge", openapi_extra=documented(ErasurePreview))
async def foresee_purge(
    caller: CallerOf,
    ports: PortsOf,
    user_id: Annotated[str, Query(min_length=1, max_length=256)],
    tenant_id: Annotated[str | None, Query(min_length=1, max_length=256)] = None,
    app_id: Annotated[str | None, Query(min_length=1, max_length=256)] = None,
) -> Response:
    """Preview the erasure of a user. It needs the same rights."""
    user = User(user_id=user_id, tenant_id=tenant_id, app_id=app_id)
    scope = await erasure_scope(ports.owners, ports.policies, user)
    require_rights(caller, scope)
    return json_response(await preview_erasure(ports.owners, user, scope))


def require_rights(caller: Caller, scope: ErasureScope) -> None:
    """Requires every right in the affected namespaces. Requires it in all namespaces if none are known, so that the response
    does not reveal whether the user exists, or if a lookup reached its limit. Raises Problem 403."""
    if not (scope.own or scope.shared) or not scope.whole:
        caller.require_everywhere("admin")
    for namespace in (*scope.own, *scope.shared):
        caller.require("admin", namespace)
