"""Translates Qdrant's JSON filters, point ids and selectors to those of the engine. Pure."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import qdrant_edge as edge

from deploy.embedded.vectors.errors import BadInput, NotOffered

Json = Mapping[str, Any]
CLAUSES = frozenset({"must", "should", "must_not"})
BOUNDS = frozenset({"gt", "gte", "lt", "lte"})


def point_id(value: Any) -> int | UUID:
    """Parses an unsigned integer or a UUID. Raises BadInput."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    try:
        return UUID(value)
    except (ValueError, AttributeError, TypeError) as exc:
        raise BadInput(
            f"Format error in JSON body: value {value} is not a valid point ID, "
            "valid values are either an unsigned integer or a UUID"
        ) from exc


def to_filter(body: Any) -> edge.Filter | None:
    """A whole filter, or None. Raises BadInput or NotOffered."""
    if body is None:
        return None
    require_known(require_object(body, "a filter"), CLAUSES, "filter clause")
    return edge.Filter(
        must=conditions(body.get("must")),
        should=conditions(body.get("should")),
        must_not=conditions(body.get("must_not")),
    )


def conditions(body: Any) -> list[Any] | None:
    """The conditions of a clause, None if it is absent. A single condition needs no list."""
    if body is None:
        return None
    return [condition(each) for each in (body if isinstance(body, list) else [body])]


def condition(body: Any) -> Any:
    """A condition: a nested filter, ids, emptiness, or a match or range of a field."""
    require_object(body, "a condition")
    if body.keys() & CLAUSES or not body:  # an empty filter matches everything
        return to_filter(body)
    if "has_id" in body:
        return edge.HasIdCondition(set(ids(body, "has_id")))
    if "is_empty" in body:
        return edge.IsEmptyCondition(field_key(body["is_empty"]))
    if "is_null" in body:
        return edge.IsNullCondition(field_key(body["is_null"]))
    return field_condition(body)


def field_condition(body: Json) -> edge.FieldCondition:
    """Parses `{"key": ..., "match": ...}` or `{"key": ..., "range": ...}`."""
    require_known(body, {"key", "match", "range"}, "condition")
    key = field_key(body)
    if body.get("match") is not None:
        return edge.FieldCondition(key, match=match(require_object(body["match"], "a match")))
    if body.get("range") is not None:
        return edge.FieldCondition(key, range=value_range(require_object(body["range"], "a range")))
    raise BadInput(f"Format error in JSON body: the condition on {key} has neither match nor range")


def field_key(body: Any) -> str:
    """The payload field of a condition."""
    key = require_object(body, "a condition").get("key")
    if not isinstance(key, str) or not key:
        raise BadInput(f"Format error in JSON body: a condition needs a key, got {body}")
    return key


def match(body: Json) -> Any:
    """A match with one value, with any of several values, or with none of them."""
    require_known(body, {"value", "any", "except"}, "match")
    if "value" in body:
        return edge.MatchValue(scalar(body["value"]))
    if "any" in body:
        return edge.MatchAny(scalars(body["any"]))
    if "except" in body:
        return edge.MatchExcept(scalars(body["except"]))
    raise BadInput("Format error in JSON body: a match needs value, any or except")


def scalar(value: Any) -> str | int:
    """A value that a match can compare: a string or an integer."""
    if isinstance(value, bool):
        # qdrant-edge 0.9 takes True for the integer 1 and then never matches a stored boolean.
        raise NotOffered("matches on booleans (store flags as keywords)")
    if isinstance(value, str | int):
        return value
    raise BadInput(f"Format error in JSON body: cannot match {value!r}, only strings and integers")


def scalars(values: Any) -> Any:
    """Several such values of one type."""
    if not isinstance(values, list):
        raise BadInput("Format error in JSON body: a match on several values needs a list")
    checked = [scalar(value) for value in values]
    if len({type(value) for value in checked}) > 1:
        raise BadInput("Format error in JSON body: a match on several values cannot mix strings and integers")
    return checked


def value_range(body: Json) -> edge.RangeFloat | edge.RangeDateTime:
    """A range of numbers, or of times if the bounds are strings."""
    require_known(body, BOUNDS, "range bound")
    bounds = {name: bound for name, bound in body.items() if bound is not None}
    if all(isinstance(bound, str) for bound in bounds.values()) and bounds:
        return edge.RangeDateTime(**bounds)
    if all(isinstance(bound, int | float) and not isinstance(bound, bool) for bound in bounds.values()):
        return edge.RangeFloat(**{name: float(bound) for name, bound in bounds.items()})
    raise BadInput("Format error in JSON body: range bounds must be all numbers or all RFC 3339 strings")


def payload_selector(body: Any) -> Any:
    """Parses `with_payload`: a Boolean, a list of keys, or keys to include or exclude."""
    if isinstance(body, bool):
        return body
    if isinstance(body, list):
        return edge.PayloadSelector.Include(body)
    require_known(require_object(body, "with_payload"), {"include", "exclude"}, "payload selector")
    if "include" in body:
        return edge.PayloadSelector.Include(body["include"])
    return edge.PayloadSelector.Exclude(body.get("exclude", []))


def vector_switch(body: Any) -> bool:
    """Parses `with_vector`: on or off, as there is one unnamed vector."""
    if isinstance(body, bool):
        return body
    raise NotOffered("named vectors")


def require_object(body: Any, what: str) -> Json:
    """The body. Raises BadInput unless it is a JSON object."""
    if not isinstance(body, dict):
        raise BadInput(f"Format error in JSON body: {what} must be an object, got {body!r}")
    return body


def require_list(body: Json, name: str) -> list[Any]:
    """The list under this name. Raises BadInput if it is missing."""
    if not isinstance(body.get(name), list):
        raise BadInput(f"Format error in JSON body: `{name}` must be a list")
    return list(body[name])


def ids(body: Json, name: str) -> list[Any]:
    """The point ids under this name."""
    return [point_id(each) for each in require_list(body, name)]


def require_known(body: Json, names: frozenset[str] | set[str], what: str) -> None:
    """Raises NotOffered for a key outside of the names, unless its value is null."""
    for name, value in body.items():
        if name not in names and value is not None:
            raise NotOffered(f"the {what} `{name}`")
