"""The API's description of itself, for whoever generates clients."""

from fastapi import APIRouter, Request, Response

from agents.api.http.json_bodies import JSON, Described, answer

router = APIRouter(prefix="/v1", tags=["description"])


DOCUMENT = {"responses": {"200": {"description": "OpenAPI 3.1.", "content": {JSON: {"schema": {"type": "object"}}}}}}


@router.get("/openapi.json", openapi_extra=Described(DOCUMENT, ()))
async def get_openapi(request: Request) -> Response:
    """This document, as this server has it."""
    return answer(request.app.state.document())
