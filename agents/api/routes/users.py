"""Erasing a user everywhere, with a receipt."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response
from msgspec import Meta

from agents.api.access.authentication import CallerOf
from agents.api.access.callers import Caller
from agents.api.access.erasure import ErasurePreview, ErasureScope, erasure_scope, preview_erasure
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.memories.apply_change import IdempotencyKey
from agents.api.ports import PortsOf
from agents.api.routes.erasures import BEGUN, begin_erasure
from schemas.erasure.receipts import Receipt
from sinks.erasure.owners import User

router = APIRouter(prefix="/v1/users", tags=["erasures"])


class ErasedUser(User, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who is to be erased, and why."""

    reason: Annotated[str, Meta(max_length=4_000)] | None = None


@router.post("/purge", openapi_extra=documented(Receipt, takes=ErasedUser, with_same_body=BEGUN))
async def purge_user(
    wanted: Annotated[ErasedUser, Depends(json_body(ErasedUser))],
    caller: CallerOf,
    ports: PortsOf,
    key: IdempotencyKey = None,
) -> Response:
    """Erase a user for good: every namespace that is theirs alone, what came of their conversations in others, messages, windows,
    cached answers, parked requests and dead letters. The receipt says what went, and what remains until when.

    It needs every right in all namespaces concerned, those that the user shares with others too.
    """
    user = User(user_id=wanted.user_id, tenant_id=wanted.tenant_id, app_id=wanted.app_id)
    require_rights(caller, await erasure_scope(ports.owners, ports.policies, user))
    subject: dict[str, Any] = {"user_id": user.user_id, "tenant_id": user.tenant_id, "app_id": user.app_id}
    return await begin_erasure(ports, caller, "user", key, wanted.reason, **subject)


@router.get("/purge", openapi_extra=documented(ErasurePreview))
async def foresee_purge(
    caller: CallerOf,
    ports: PortsOf,
    user_id: Annotated[str, Query(min_length=1, max_length=256)],
    tenant_id: Annotated[str | None, Query(min_length=1, max_length=256)] = None,
    app_id: Annotated[str | None, Query(min_length=1, max_length=256)] = None,
) -> Response:
    """What erasing a user would take; nothing is erased. It needs the same rights."""
    user = User(user_id=user_id, tenant_id=tenant_id, app_id=app_id)
    found = await erasure_scope(ports.owners, ports.policies, user)
    require_rights(caller, found)
    return json_response(await preview_erasure(ports.owners, user, found))


def require_rights(caller: Caller, found: ErasureScope) -> None:
    """Whether somebody is known is nobody else's business, and what was not looked at may be anybody's. Raises Problem 403."""
    if not (found.own or found.shared) or not found.whole:
        caller.require_everywhere("admin")
    for namespace in (*found.own, *found.shared):
        caller.require("admin", namespace)
