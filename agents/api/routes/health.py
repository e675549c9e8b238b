"""Whether the process lives, and whether it can answer: for whoever starts and stops it, so without a key."""

from fastapi import APIRouter, Response
from msgspec import Struct

from agents.api.http.json_bodies import documented, json_response
from agents.api.ports import PortsOf
from schemas.errors import Retryable

router = APIRouter(prefix="/health", tags=["health"])


class Health(Struct, frozen=True):
    """`ok` of a process that answers."""

    status: str


@router.get("/live", openapi_extra=documented(Health))
async def live() -> Response:
    """Answers as long as the process does."""
    return json_response(Health("ok"))


@router.get("/ready", openapi_extra=documented(Health))
async def ready(ports: PortsOf) -> Response:
    """Answers 503 while PostgreSQL does not, or while the process is stopping."""
    if ports.change_notifier.closed:
        raise Retryable("this process is stopping")
    await ports.ready()
    return json_response(Health("ok"))
