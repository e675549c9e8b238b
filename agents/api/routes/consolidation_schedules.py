"""The schedules of policies, with their next and last consolidation runs."""

from fastapi import APIRouter, Response
from msgspec import Struct
from msgspec.structs import asdict

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from agents.api.routes.consolidation_runs import ConsolidationRunView, run_view
from schemas.consolidation.runs import ConsolidationRun, Scheduled

router = APIRouter(prefix="/v1/consolidation-schedules", tags=["consolidation"])


class ScheduleView(Scheduled, frozen=True, kw_only=True):
    """A policy's schedule, the time of its next run, and its last scheduled run."""

    last_run: ConsolidationRunView | None = None


class ScheduleList(Struct, frozen=True):
    """Schedules, the earliest next run first."""

    schedules: tuple[ScheduleView, ...]


@router.get("", openapi_extra=documented(ScheduleList))
async def list_schedules(caller: CallerOf, ports: PortsOf) -> Response:
    """List policies with a schedule, each with its next and its last run. To change a schedule, put its policy."""
    caller.require_everywhere("read")
    scheduled = await ports.runs.schedules()
    last = await ports.runs.last_scheduled([each.policy for each in scheduled])
    return json_response(ScheduleList(tuple(schedule_view(each, last.get(each.policy)) for each in scheduled)))


def schedule_view(scheduled: Scheduled, last: ConsolidationRun | None) -> ScheduleView:
    return ScheduleView(**asdict(scheduled), last_run=run_view(last) if last else None)
