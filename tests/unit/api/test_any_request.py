"""Requests of all shapes, made from the OpenAPI document by Schemathesis: whatever is sent, nothing is answered with 5xx."""

import json
import os
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
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


@SCHEMA.exclude(path="/v1/events").parametrize()  # a stream of events has no end
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_nothing_that_is_asked_is_a_fault_of_the_server(case: schemathesis.Case):
    API.seconds += 1_000  # the key has asked for nothing lately
    answer = case.call(headers={"Authorization": f"Bearer {TOKEN}"})
    case.validate_response(answer, checks=(not_a_server_error,))
    assert answer.status_code < 500, answer.text
