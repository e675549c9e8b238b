"""Qdrant's own OpenAPI document, cut down to what memstream uses: the shapes of requests and answers, as JSON Schema.

`python -m tests.contract.vectors.qdrant_openapi SOURCE VERSION` cuts qdrant_openapi.json anew out of Qdrant's sources, where the
document is docs/redoc/master/openapi.json (Apache-2.0).
"""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

TRIMMED: Final = Path(__file__).with_suffix(".json")
PREFIX: Final = "#/components/schemas/"
LEFT_OUT: Final = ("description", "example", "examples", "title", "format", "default", "deprecated")
JSON: Final = "application/json"


class Document:
    """The shapes of the routes, by method and path as the document writes it."""

    def __init__(self, text: str) -> None:
        kept = json.loads(text)
        self._schemas = kept["schemas"]
        self._routes = {tuple(route.split(" ", 1)): shapes for route, shapes in kept["routes"].items()}

    def route(self, method: str, path: str) -> tuple[str, str]:
        """The one that a request is of."""
        (found,) = [
            each
            for each in self._routes
            if each[0] == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each[1]), path)
        ]
        return found

    def request(self, route: tuple[str, str]) -> Draft202012Validator | None:
        return self._validator(self._routes[route]["request"])

    def answer(self, route: tuple[str, str], status: int) -> Draft202012Validator:
        shapes = self._routes[route]["answers"]
        found = self._validator(shapes["200" if status == 200 else "4XX"])
        assert found is not None
        return found

    def _validator(self, shape: dict[str, Any] | None) -> Draft202012Validator | None:
        whole = {"components": {"schemas": self._schemas}}
        return None if shape is None else Draft202012Validator(shape | whole)

    @property
    def routes(self) -> frozenset[tuple[str, str]]:
        return frozenset(self._routes)


def trimmed(whole: dict[str, Any], version: str, routes: list[tuple[str, str]]) -> dict[str, Any]:
    """The routes' shapes and all that they refer to, without prose."""
    kept = {f"{method} {path}": shapes(whole["paths"][path][method.lower()]) for method, path in routes}
    schemas: dict[str, Any] = {}
    wanted = references(kept)
    while wanted - schemas.keys():
        name = min(wanted - schemas.keys())
        schemas[name] = as_json_schema(whole["components"]["schemas"][name])
        wanted |= references(schemas[name])
    return {
        "source": f"Qdrant's OpenAPI document, docs/redoc/master/openapi.json of qdrant/qdrant {version}, cut down "
        "to the routes that memstream uses, without prose, with `nullable` written as JSON Schema has it",
        "copyright": "Copyright Qdrant; licensed under the Apache License, Version 2.0: http://www.apache.org/licenses/LICENSE-2.0",
        "routes": kept,
        "schemas": dict(sorted(schemas.items())),
    }


def shapes(operation: dict[str, Any]) -> dict[str, Any]:
    body = operation.get("requestBody", {}).get("content", {}).get(JSON, {}).get("schema")
    responses = {
        status: as_json_schema(response["content"][JSON]["schema"])
        for status, response in operation["responses"].items()
        if status in ("200", "4XX") and JSON in response.get("content", {})
    }
    return {
        "request": body and as_json_schema(body),
        "answers": {"4XX": {"$ref": f"{PREFIX}ErrorResponse"}} | responses,
    }


def as_json_schema(shape: Any) -> Any:
    """Converts a shape of OpenAPI 3.0, whose `nullable` JSON Schema does not know. Properties may have the names of
    keywords."""
    if isinstance(shape, list):
        return [as_json_schema(each) for each in shape]
    if not isinstance(shape, dict):
        return shape
    kept = {
        name: {key: as_json_schema(each) for key, each in value.items()}
        if name == "properties"
        else as_json_schema(value)
        for name, value in shape.items()
        if name not in LEFT_OUT
    }
    if kept.pop("nullable", False):
        return {"anyOf": [kept, {"type": "null"}]}
    return kept


def references(shape: Any) -> set[str]:
    return set(re.findall(rf'"{PREFIX}(\w+)"', json.dumps(shape)))


if __name__ == "__main__":
    known = Document(TRIMMED.read_text())
    again = trimmed(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2], sorted(known.routes))
    TRIMMED.write_text(json.dumps(again, ensure_ascii=False) + "\n")
