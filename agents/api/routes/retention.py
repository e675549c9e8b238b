"""Retention of the short-term tier: sweeps of the archive, with what each policy keeps, and asking for one. It concerns all
namespaces, so it needs rights in all of them."""

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
    """The newest first; `next` is the cursor of the page behind this one."""

    sweeps: tuple[Sweep, ...]
    next: str | None = None


class SweepCursor(Struct, frozen=True, array_like=True):
    """What a cursor of sweeps stands for."""

    created_at: Moment
    sweep_id: str


BEGINS = "It begins within seconds, and is followed by its id."
LISTED = "sweeps"  # what a cursor is of


@router.post("", openapi_extra=documented(Sweep, takes=SweepRequest, status=202, description=BEGINS))
async def start_sweep(
    wanted: Annotated[SweepRequest, Depends(json_body(SweepRequest))], caller: CallerOf, ports: PortsOf
) -> Response:
    """Delete old consolidated messages from the archive, as workers do every day; or only count them."""
    caller.require_everywhere("admin")
    sweep = manual_sweep(wanted.dry_run, caller.actor, ports.clock())
    if not sweep.dry_run:
        done = Audited(
            at=sweep.created_at, actor=caller.actor, action="retention.sweep", subject=sweep.sweep_id, details={}
        )
        await ports.audit.record(done)
    await ports.sweeps.add(sweep)
    return json_response(sweep, 202)


@router.get("", openapi_extra=documented(SweepPage))
async def list_sweeps(caller: CallerOf, ports: PortsOf, limit: LimitOf = 50, cursor: CursorOf = None) -> Response:
    """Sweeps of the last 90 days, the newest first, a page at a time: what each policy keeps and let go, its oldest and bytes."""
    caller.require_everywhere("read")
    behind = decode_cursor(cursor, SweepCursor, LISTED) if cursor else None
    found = await ports.sweeps.page(limit + 1, (behind.created_at, behind.sweep_id) if behind else None)
    page = found[:limit]
    more = (
        cursors.encode_cursor(SweepCursor(page[-1].created_at, page[-1].sweep_id), LISTED)
        if len(found) > limit
        else None
    )
    return json_response(SweepPage(page, more))


@router.get("/{sweep_id}", openapi_extra=documented(Sweep))
async def get_sweep(
    sweep_id: Annotated[str, Path(min_length=1, max_length=256, description="A sweep's id.")],
    caller: CallerOf,
    ports: PortsOf,
) -> Response:
    """One sweep: how far it is, and what came of it."""
    caller.require_everywhere("read")
    if (sweep := await ports.sweeps.of(sweep_id)) is None:
        raise not_found(f"no sweep is known by the id {sweep_id!r}")
    return json_response(sweep)
