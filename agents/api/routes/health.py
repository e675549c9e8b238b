"""Liveness and readiness of the process, for orchestrators. No key is needed."""

from fastapi import APIRouter, Response
from msgspec import Struct

from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from schemas.errors import Retryable

router = APIRouter(prefix="/health", tags=["health"])


class Health(Struct, frozen=True):
    """The health of a process; `status` is `ok`."""

    status: str


@router.get("/live", openapi_extra=documented(Health))
async def live() -> Response:
    """200 while the process runs."""
    return json_response(Health("ok"))


@router.get("/ready", openapi_extra=documented(Health))
async def ready(ports: PortsOf) -> Response:
    """503 while PostgreSQL does not answer, or while the process is stopping; otherwise 200."""
    if ports.change_notifier.closed:
        raise Retryable("this process is stopping")
    await ports.ready()
    return json_response(Health("ok"))
