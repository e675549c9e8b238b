"""How the pipeline stands: for operators, who may read all namespaces."""

from fastapi import APIRouter, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.pipeline.status import Pipeline
from agents.api.ports import PortsOf

router = APIRouter(prefix="/v1/pipeline", tags=["operations"])


@router.get("", openapi_extra=documented(Pipeline))
async def get_pipeline(caller: CallerOf, ports: PortsOf) -> Response:
    """Lag by stage, providers of models and their circuit breakers, calls under way, parked requests, what is left of the
    budget of all, dead letters that wait. It needs a key that may read all namespaces."""
    caller.require_everywhere("read")
    return json_response(await ports.pipeline.read())
