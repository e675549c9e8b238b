"""Retention of archived messages: sweeps and their results. Sweeps concern all namespaces, so they need rights in all of
them."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http import cursors
from agents.api.http.cursors import CursorOf, LimitOf, decode_cursor
from agents.api.http.json_bodies import documented, json_body, json_response
from agents.api.http.problems import not_found
from agents.api.ports import PortsOf
from agents.retention.sweeper import manual_sweep
from schemas.consolidation.retention import Sweep, SweepRequest
from schemas.conversations.messages import Moment
from sinks.access.audit import Audited

router = APIRouter(prefix="/v1/retention-sweeps", tags=["consolidation"])


class SweepPage(Struct, frozen=True):
    """Sweeps, newest first. `next` is the cursor of the following page."""

    sweeps: tuple[Sweep, ...]
    next: str | None = None


class SweepCursor(Struct, frozen=True, array_like=True):
    """The place that a cursor of sweeps encodes."""

    created_at: Moment
    sweep_id: str


ACCEPTED = "Accepted; starts within seconds. Poll it by its id."
LIST_KEY = "sweeps"


@router.post("", openapi_extra=documented(Sweep, request_body=SweepRequest, status=202, description=ACCEPTED))
async def start_sweep(
    requested: Annotated[SweepRequest, Depends(json_body(SweepRequest))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Delete old consolidated messages from the archive now, instead of in the daily sweep; or only count them."""
    caller.require_everywhere("admin")
    sweep = manual_sweep(requested.dry_run, caller.actor, ports.clock())
    if not sweep.dry_run:
        audited = Audited(
            at=sweep.created_at, actor=caller.actor, action="retention.sweep", subject=sweep.sweep_id, details={}
        )
        await ports.audit.record(audited)
    await ports.sweeps.add(sweep)
    return json_response(sweep, 202)


@router.get("", openapi_extra=documented(SweepPage))
async def list_sweeps(caller: CallerOf, ports: PortsOf, limit: LimitOf = 50, cursor: CursorOf = None) -> Response:
    """List the sweeps of the last 90 days, newest first, in pages: per policy what is kept and deleted, the oldest message,
    and bytes."""
    caller.require_everywhere("read")
    after = decode_cursor(cursor, SweepCursor, LIST_KEY) if cursor else None
    found = await ports.sweeps.page(limit + 1, (after.created_at, after.sweep_id) if after else None)
    page = found[:limit]
    next_cursor = (
        cursors.encode_cursor(SweepCursor(page[-1].created_at, page[-1].sweep_id), LIST_KEY)
        if len(found) > limit
        else None
    )
    return json_response(SweepPage(page, next_cursor))


@router.get("/{sweep_id}", openapi_extra=documented(Sweep))
async def get_sweep(
    sweep_id: Annotated[str, Path(min_length=1, max_length=256, description="A sweep's id.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """One sweep: progress and outcome."""
    caller.require_everywhere("read")
    if (sweep := await ports.sweeps.of(sweep_id)) is None:
        raise not_found(f"there is no sweep {sweep_id!r}")
    return json_response(sweep)
