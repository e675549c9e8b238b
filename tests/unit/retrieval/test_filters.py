from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.codec import decode
from schemas.errors import Rejected
from schemas.retrieval.searches import Filters, Query, Scale, as_fraction
from tests.cases.filters import CASES, FILTERED


@pytest.mark.parametrize("filters, accepted", CASES, ids=[str(filters) for filters, _ in CASES])
def test_filters_accept_memories_that_meet_every_condition(filters: Filters, accepted: set[str]) -> None:
    assert {name for name, memory in FILTERED.items() if filters.accepts(memory)} == accepted


@given(st.floats(allow_nan=False), st.sampled_from(("fraction", "tenths", "points")))
def test_an_importance_on_any_scale_is_a_fraction(rated: float, scale: Scale) -> None:
    assert 0.0 <= as_fraction(rated, scale) <= 1.0


@pytest.mark.parametrize(
    "value",
    [
        {"$ne": ""},
        ["a", {"bool": {"should": [{"match_all": {}}]}}],
        {"wildcard": {"kind": "*"}},
        "fact",
        [1],
    ],
)
def test_a_filter_value_that_is_no_list_of_strings_is_invalid(value: object) -> None:
    for field in ("kinds", "tags", "languages"):
        with pytest.raises(Rejected, match="invalid"):
            decode(msgspec.json.encode({"namespaces": ["n"], "filters": {field: value}}), Query)
    with pytest.raises(Rejected, match="invalid"):
        decode(msgspec.json.encode({"namespaces": value}), Query)


def test_a_query_must_name_namespaces_and_contain_only_known_valid_fields() -> None:
    for wrong in (
        {"namespaces": []},
        {},
        {"namespaces": ["n"], "limit": 0},
        {"namespaces": ["n"], "limit": 101},
        {"namespaces": ["n"], "floor": 1.1},
        {"namespaces": ["n"], "user_id": "x"},
        {"namespaces": ["n"], "filters": {"kind": "fact"}},
        {"namespaces": ["n"], "filters": {"valid_at": "2026-03-01T12:00:00"}},
    ):
        with pytest.raises(Rejected, match="invalid"):
            decode(msgspec.json.encode(wrong), Query)
    query = decode(b'{"namespaces":["n"],"filters":{"valid_at":"2026-03-01T12:00:00Z"}}', Query)
    assert query.filters.valid_at == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_scale_without_a_bound_of_importance_filters_nothing() -> None:
    only_scale = decode(b'{"namespaces":["n"],"text":"x","filters":{"scale":"tenths"}}', Query)
    assert only_scale.asks_passages and only_scale.asks_memories
    assert decode(b'{"namespaces":["n"],"text":"x","in":"said","filters":{"scale":"tenths"}}', Query).asks_passages
    bounded = decode(b'{"namespaces":["n"],"text":"x","filters":{"scale":"tenths","min_importance":7}}', Query)
    assert not bounded.asks_passages
