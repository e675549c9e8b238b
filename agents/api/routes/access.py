"""Keys of the API and the audit log, for administrators of all namespaces."""

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

MOST_GRANTS = 100


class KeyList(Struct, frozen=True):
    """Every key, revoked and expired ones too, oldest first."""

    keys: tuple[Key, ...]


class KeyRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A key to make."""

    name: Identifier
    grants: Annotated[tuple[Grant, ...], Meta(min_length=1, max_length=MOST_GRANTS)]
    expires_at: Moment | None = None


class MadeKey(Struct, frozen=True, kw_only=True):
    """A key with its token, which is told this once and kept nowhere."""

    token: str
    key: Key


class AuditPage(Struct, frozen=True):
    """The latest first; `next` is the cursor of the page behind this one."""

    entries: tuple[AuditEntry, ...]
    next: str | None = None


class AuditCursor(Struct, frozen=True, array_like=True):
    """What a cursor of the audit stands for."""

    id: Annotated[int, Meta(ge=0, le=2**63 - 1)]


@router.get("/keys", openapi_extra=documented(KeyList))
async def list_keys(caller: CallerOf, ports: PortsOf) -> Response:
    """Every key with its grants and when it was last used; never a token."""
    caller.require_everywhere("admin")
    return json_response(KeyList(await ports.keys.all()))


@router.post("/keys", openapi_extra=documented(MadeKey, takes=KeyRequest, status=201, description="It holds at once."))
async def create_key(
    wanted: Annotated[KeyRequest, Depends(json_body(KeyRequest))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Make a key. Its token is in this answer and nowhere else."""
    caller.require_everywhere("admin")
    now = ports.clock()
    if wanted.expires_at is not None and wanted.expires_at <= now:
        raise invalid("`expires_at` has passed: name a later moment, or none")
    try:
        token, key = await ports.keys.create(wanted.name, wanted.grants, now, caller.actor, wanted.expires_at)
    except Rejected as exc:
        raise conflict(exc.detail) from exc
    return json_response(MadeKey(token=token, key=key), 201, {"Cache-Control": "no-store"})


@router.delete("/keys/{key_id}", openapi_extra=documented(Key))
async def revoke_key(
    key_id: Annotated[str, Path(min_length=1, max_length=256, description="A key's id.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """Revoke a key. A process that knew it may let it in for five more seconds."""
    caller.require_everywhere("admin")
    try:
        return json_response(await ports.keys.revoke(key_id, ports.clock(), caller.actor))
    except Rejected as exc:
        raise not_found(f"no key {key_id!r} holds") from exc


@router.get("/audit", openapi_extra=documented(AuditPage))
async def list_audit(
    caller: CallerOf,
    ports: PortsOf,
    action: Annotated[str | None, Query(min_length=1, max_length=100, description="Of this action alone.")] = None,
    subject: Annotated[str | None, Query(min_length=1, max_length=256, description="On this subject alone.")] = None,
    limit: LimitOf = 50,
    cursor: CursorOf = None,
) -> Response:
    """What administrators did, the latest first, a page at a time."""
    caller.require_everywhere("admin")
    listed = (action, subject)
    before = decode_cursor(cursor, AuditCursor, listed).id if cursor else None
    found = await ports.audit.page(limit + 1, before=before, action=action, subject=subject)
    page = found[:limit]
    more = cursors.encode_cursor(AuditCursor(page[-1].id), listed) if len(found) > limit else None
    return json_response(AuditPage(page, more))
