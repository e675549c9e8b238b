"""Conversion of Qdrant's JSON filters to the engine's types, and rejected filters."""

from uuid import UUID

import pytest

from deploy.embedded.vectors.errors import BadInput, NotOffered
from deploy.embedded.vectors.filters import payload_selector, point_id, to_filter, vector_switch

NAME = "0b0c6ca7-4a5c-4f4f-8d4c-7d1d6f6d9a10"


def test_point_ids_are_unsigned_integers_or_uuids():
    assert point_id(7) == 7
    assert point_id(NAME) == UUID(NAME)


@pytest.mark.parametrize("value", [-1, True, "seven", 1.5, None, [1]])
def test_other_values_are_invalid_point_ids(value: object):
    with pytest.raises(BadInput, match="not a valid point ID"):
        point_id(value)


def test_an_absent_filter_converts_to_none():
    assert to_filter(None) is None


def test_an_empty_filter_is_accepted_at_the_top_and_nested():
    made = to_filter({"must": [{}]})
    assert made is not None
    assert len(made.must or []) == 1


def test_filter_clauses_are_converted_to_the_clauses_of_the_engine():
    made = to_filter({"must": [{"key": "a", "match": {"value": "x"}}], "must_not": {"has_id": [1, NAME]}})
    assert made is not None
    assert [condition.key for condition in made.must or []] == ["a"]
    assert [condition.point_ids for condition in made.must_not or []] == [{1, UUID(NAME)}]
    assert not made.should


def test_a_filter_may_stand_inside_a_filter():
    made = to_filter({"must": [{"should": [{"is_empty": {"key": "a"}}, {"is_null": {"key": "b"}}]}]})
    assert made is not None
    assert [len(inner.should) for inner in made.must or []] == [2]


def test_bounds_of_a_range_may_be_numbers_or_moments():
    for low, high in ((0.5, 2), ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")):
        assert to_filter({"must": [{"key": "a", "range": {"gte": low, "lt": high, "gt": None}}]}) is not None


@pytest.mark.parametrize(
    "refused",
    [
        {"min_should": {"conditions": [], "min_count": 1}},
        {"must": [{"key": "a", "match": {"value": True}}]},
        {"must": [{"key": "a", "match": {"text": "x"}}]},
        {"must": [{"key": "a", "geo_radius": {"radius": 1}}]},
        {"must": [{"key": "a", "range": {"between": 1}}]},
    ],
)
def test_unsupported_filter_conditions_raise_an_error_instead_of_being_ignored(refused: dict[str, object]):
    with pytest.raises(NotOffered, match="does not offer"):
        to_filter(refused)


@pytest.mark.parametrize(
    "malformed",
    [
        [],
        {"must": ["a"]},
        {"must": [{"match": {"value": "x"}}]},
        {"must": [{"key": "a"}]},
        {"must": [{"key": "a", "match": {}}]},
        {"must": [{"key": "a", "match": {"value": 1.5}}]},
        {"must": [{"key": "a", "match": {"any": "x"}}]},
        {"must": [{"key": "a", "match": {"any": ["x", 1]}}]},
        {"must": [{"key": "a", "range": {"gte": 1, "lt": "2026-01-01T00:00:00Z"}}]},
        {"must": [{"has_id": ["nobody"]}]},
        {"must": [{"has_id": 1}]},
        {"must": [{"is_empty": {}}]},
    ],
)
def test_malformed_filters_are_bad_input(malformed: object):
    with pytest.raises(BadInput):
        to_filter(malformed)


def test_payload_and_vector_selectors_accept_booleans_and_key_lists():
    assert payload_selector(True) is True
    assert payload_selector(["a"]) is not None
    assert payload_selector({"exclude": ["a"]}) is not None
    assert vector_switch(False) is False
    with pytest.raises(NotOffered, match="named vectors"):
        vector_switch(["title"])
