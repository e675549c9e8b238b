"""Builds the OpenAPI 3.1 document: paths and parameters from FastAPI, body schemas from msgspec, and a problem response for
every operation."""

from collections.abc import Iterable
from typing import Any

import msgspec
from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from msgspec import Struct

from agents.api.http.json_bodies import DocumentedBodies
from agents.api.http.problems import MEDIA_TYPE, ProblemDetails
from schemas.documents.generate import dedented

VERSION = "1.0.0"  # of the API: minor for additions, major for incompatible changes
ANY_JSON: dict[str, Any] = {"application/json": {"schema": {}}}
PROBLEM = {
    "description": "A problem document (RFC 9457): `type` identifies the problem, `detail` says what to do.",
    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}},
}


def document(app: FastAPI, routers: Iterable[APIRouter]) -> dict[str, Any]:
    """Returns the document of the app. `routers` are its routers, which carry the body schemas."""
    whole: dict[str, Any] = get_openapi(
        title="memstream", version=VERSION, description=app.description, routes=app.routes
    )
    for operations in whole["paths"].values():
        for operation in operations.values():
            operation["responses"] = documented_responses(operation["responses"])
    components = whole.setdefault("components", {})
    components["schemas"] = dict(sorted(schemas(shapes(routers)).items()))
    return whole


def documented_responses(responses: dict[str, Any]) -> dict[str, Any]:
    """Removes FastAPI's default responses and adds the problem response."""
    kept = {
        status: response
        for status, response in responses.items()
        if status != "422" and not is_default_response(response)
    }
    return {status: without_default_body(response) for status, response in kept.items()} | {"default": PROBLEM}


def is_default_response(response: dict[str, Any]) -> bool:
    return response.get("content") == ANY_JSON and response["description"] == "Successful Response"


def without_default_body(response: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in response.items() if name != "content" or part != ANY_JSON}


def shapes(routers: Iterable[APIRouter]) -> list[type[Struct]]:
    extras = (getattr(route, "openapi_extra", None) for router in routers for route in router.routes)
    found = {shape for extra in extras if isinstance(extra, DocumentedBodies) for shape in extra.shapes}
    return sorted(found | {ProblemDetails}, key=lambda shape: shape.__name__)


def schemas(found: list[type[Struct]]) -> dict[str, Any]:
    _, components = msgspec.json.schema_components(found, ref_template="#/components/schemas/{name}")
    return {name: dedented(schema) for name, schema in components.items()}
