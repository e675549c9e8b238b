"""When the next consolidation runs are: what policies' schedules come to."""

from fastapi import APIRouter, Response
from msgspec import Struct

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from schemas.consolidation.runs import Scheduled

router = APIRouter(prefix="/v1/consolidation-schedules", tags=["consolidation"])


class ScheduleList(Struct, frozen=True):
    """The soonest first."""

    schedules: tuple[Scheduled, ...]


@router.get("", openapi_extra=documented(ScheduleList))
async def list_schedules(caller: CallerOf, ports: PortsOf) -> Response:
    """Policies with a schedule, and when each has its next run. Change one by putting its policy."""
    caller.require_everywhere("read")
    return json_response(ScheduleList(await ports.runs.schedules()))
