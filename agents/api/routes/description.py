"""The OpenAPI document of the API, for client generators."""

from fastapi import APIRouter, Request, Response

from agents.api.http.json_bodies import JSON, DocumentedBodies, json_response

router = APIRouter(prefix="/v1", tags=["description"])


DOCUMENT = {"responses": {"200": {"description": "OpenAPI 3.1.", "content": {JSON: {"schema": {"type": "object"}}}}}}


@router.get("/openapi.json", openapi_extra=DocumentedBodies(DOCUMENT, ()))
async def get_openapi(request: Request) -> Response:
    """This document."""
    return json_response(request.app.state.document())
