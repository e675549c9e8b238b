"""The state of the pipeline, for operators with the right to read all namespaces."""

from fastapi import APIRouter, Response

from agents.api.access.authentication import CallerOf
from agents.api.http.json_bodies import documented, json_response
from agents.api.pipeline.status import Pipeline
from agents.api.ports import PortsOf

router = APIRouter(prefix="/v1/pipeline", tags=["operations"])


@router.get("", openapi_extra=documented(Pipeline))
async def get_pipeline(caller: CallerOf, ports: PortsOf) -> Response:
    """Lag per stage, providers with circuit breakers, running model calls, parked requests, the remaining overall budget,
    waiting dead letters. The key needs the right to read all namespaces."""
    caller.require_everywhere("read")
    return json_response(await ports.pipeline.read())
