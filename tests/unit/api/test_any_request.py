"""No request that Schemathesis generates from the OpenAPI document is answered with 5xx."""

import json
import os
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error

from agents.api.app import document
from tests.api import Api, a_memory

EXAMPLES = int(os.environ.get("MEMSTREAM_EXAMPLES", "4"))  # of each route; many more find more, and take minutes
API = Api()
API.memories.put(a_memory("m1"))
TOKEN = API.keys.add(admin="*")
SCHEMA = schemathesis.openapi.from_dict(document())
SCHEMA.app = API.app


@schemathesis.serializer("application/x-ndjson")
def as_a_line(_context: Any, value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "replace") + b"\n"


ASKED = SCHEMA.exclude(path="/v1/events")  # a stream of events has no end
OPERATIONS = {operation.label: operation for operation in (found.ok() for found in ASKED.get_all_operations())}


def test_every_openapi_operation_except_the_event_stream_is_fuzzed():
    described = {
        f"{method.upper()} {path}"
        for path, methods in document()["paths"].items()
        for method in methods
        if method in ("get", "put", "post", "delete", "patch")
    }
    assert described - OPERATIONS.keys() == {"GET /v1/events"}


@pytest.mark.parametrize("label", OPERATIONS)  # Schemathesis' own parametrize gives all of them one id
@given(data=st.data())
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_generated_request_gets_a_server_error(label: str, data: st.DataObject):
    API.seconds += 1_000  # the key has asked for nothing lately
    case = data.draw(OPERATIONS[label].as_strategy())
    answer = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
    case.validate_response(answer, checks=(not_a_server_error,))
    assert answer.status_code < 500, answer.text
