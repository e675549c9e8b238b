"""The committed OpenAPI document matches the routes and is complete."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agents.api import generate
from agents.api.app import AUTHENTICATED_ROUTERS, PUBLIC_ROUTERS, document
from tests.api import Api

DOCUMENT = document()
OPERATIONS = [
    pytest.param(path, method, operation, id=f"{method} {path}")
    for path, operations in DOCUMENT["paths"].items()
    for method, operation in operations.items()
]


def test_the_committed_document_is_up_to_date():
    for name, content in generate.files().items():
        assert (generate.TARGET / name).read_bytes() == content, "run `make schemas`"


def test_the_generate_check_detects_an_outdated_openapi_document_and_generating_repairs_it(tmp_path: Path):
    assert generate.main(["--check"], tmp_path) == 1
    assert not list(tmp_path.iterdir())
    assert generate.main([], tmp_path) == 0
    assert generate.main(["--check"], tmp_path) == 0
    (tmp_path / "api.md").write_text("")
    assert generate.main(["--check"], tmp_path) == 1


def test_every_reference_in_the_openapi_document_resolves():
    for reference in every(DOCUMENT, "$ref"):
        part: Any = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]
        assert part


def every(part: Any, key: str) -> Any:
    if isinstance(part, dict):
        for name, value in part.items():
            if name == key and isinstance(value, str):
                yield value
            else:
                yield from every(value, key)
    elif isinstance(part, list):
        for item in part:
            yield from every(item, key)


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_operation_has_a_description_success_and_problem_responses_and_security(path, method, operation):
    assert operation["description"]
    assert operation["responses"]["default"]["content"].keys() == {"application/problem+json"}
    assert [status for status in operation["responses"] if status.startswith("2")]
    assert ("security" in operation) != path.startswith("/health/")


def test_every_route_of_every_router_is_in_the_openapi_document():
    routes = [route for router in (*PUBLIC_ROUTERS, *AUTHENTICATED_ROUTERS) for route in router.routes]
    assert len(OPERATIONS) == sum(len(route.methods) for route in routes)


def test_schemas_of_the_components_are_json_schemas():
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(json.loads(json.dumps(schema)))


async def test_a_server_serves_its_own_openapi_document_to_key_holders(api: Api):
    assert (await api.client(read="nothing").get("/v1/openapi.json")).json() == json.loads(json.dumps(DOCUMENT))
    assert (await api.client().get("/v1/openapi.json")).status_code == 401
