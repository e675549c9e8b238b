"""API keys and the audit log, for administrators of all namespaces."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from msgspec import Meta, Struct

from agents.api.access.authentication import CallerOf
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import conflict, invalid, not_found
from agents.api.ports import PortsOf
from schemas.access.keys import Grant, Key
from schemas.conversations.messages import Identifier, Moment
from schemas.errors import Rejected
from sinks.access.audit import AuditEntry

router = APIRouter(prefix="/v1", tags=["access"])

MAX_GRANTS = 100


class KeyList(Struct, frozen=True):
    """All keys, oldest first, including revoked and expired ones."""

    keys: tuple[Key, ...]


class KeyRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key to create."""

    name: Identifier
    grants: Annotated[tuple[Grant, ...], Meta(min_length=1, max_length=MAX_GRANTS)]
    expires_at: Moment | None = None


class MadeKey(Struct, frozen=True, kw_only=True):
    """A new key with its token. Only this response contains the token; memstream stores only its hash."""

    token: str
    key: Key


class AuditPage(Struct, frozen=True):
    """Audit entries, latest first. `next` is the cursor of the following page."""

    entries: tuple[AuditEntry, ...]
    next: str | None = None


class AuditCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of the audit log encodes."""

    id: Annotated[int, Meta(ge=0, le=2**63 - 1)]


@router.get("/keys", openapi_extra=documented(KeyList))
async def list_keys(caller: CallerOf, ports: PortsOf) -> Response:
    """List keys with their grants and the time of their last use, without tokens."""
    caller.require_everywhere("admin")
    return json_response(KeyList(await ports.keys.all()))


@router.post("/keys", openapi_extra=documented(MadeKey, request_body=KeyRequest, status=201, description="Created."))
async def create_key(
    requested: Annotated[KeyRequest, Depends(json_body(KeyRequest))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Create a key. Only this answer has its token."""
    caller.require_everywhere("admin")
    now = ports.clock()
    if requested.expires_at is not None and requested.expires_at <= now:
        raise invalid("`expires_at` is in the past: give a later time, or leave it out")
    try:
        token, key = await ports.keys.create(requested.name, requested.grants, now, caller.actor, requested.expires_at)
    except Rejected as exc:
        raise conflict(exc.detail) from exc
    return json_response(MadeKey(token=token, key=key), 201, {"Cache-Control": "no-store"})


@router.delete("/keys/{key_id}", openapi_extra=documented(Key))
async def revoke_key(
    key_id: Annotated[str, Path(min_length=1, max_length=256, description="A key's id.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """Revoke a key. Processes that have cached it may accept it for five more seconds."""
    caller.require_everywhere("admin")
    try:
        return json_response(await ports.keys.revoke(key_id, ports.clock(), caller.actor))
    except Rejected as exc:
        raise not_found(f"there is no active key {key_id!r}") from exc


@router.get("/audit", openapi_extra=documented(AuditPage))
async def list_audit(
    caller: CallerOf,
    ports: PortsOf,
    action: Annotated[str | None, Query(min_length=1, max_length=100, description="Only this action.")] = None,
    subject: Annotated[
        str | None, Query(min_length=1, max_length=256, description="Only actions on this subject.")
    ] = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """List the actions of administrators, latest first, in pages."""
    caller.require_everywhere("admin")
    list_key = (action, subject)
    before = decode_cursor(cursor, AuditCursor, list_key).id if cursor else None
    found = await ports.audit.page(limit + 1, before=before, action=action, subject=subject)
    page = found[:limit]
    next_cursor = cursors.encode_cursor(AuditCursor(page[-1].id), list_key) if len(found) > limit else None
    return json_response(AuditPage(page, next_cursor))
