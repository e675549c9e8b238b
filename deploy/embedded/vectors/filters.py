"""Qdrant's JSON filters, point ids and selectors, turned into what the engine takes. Pure."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import qdrant_edge as edge

from deploy.embedded.vectors.errors import BadInput, NotOffered

Json = Mapping[str, Any]
CLAUSES = frozenset({"must", "should", "must_not"})
BOUNDS = frozenset({"gt", "gte", "lt", "lte"})


def point_id(value: Any) -> int | UUID:
    """An unsigned integer or a UUID, as Qdrant allows. Raises BadInput."""
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
    """A whole filter; None stays None. Raises BadInput or NotOffered."""
    if body is None:
        return None
    known(mapping(body, "a filter"), CLAUSES, "filter clause")
    return edge.Filter(
        must=conditions(body.get("must")),
        should=conditions(body.get("should")),
        must_not=conditions(body.get("must_not")),
    )


def conditions(body: Any) -> list[Any] | None:
    """The conditions of one clause, None for an absent one; a single one may stand without a list."""
    if body is None:
        return None
    return [condition(each) for each in (body if isinstance(body, list) else [body])]


def condition(body: Any) -> Any:
    """One condition: a nested filter, ids, emptiness, or a field's match or range."""
    mapping(body, "a condition")
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
    """`{"key": ..., "match": ...}` or `{"key": ..., "range": ...}`."""
    known(body, {"key", "match", "range"}, "condition")
    key = field_key(body)
    if body.get("match") is not None:
        return edge.FieldCondition(key, match=match(mapping(body["match"], "a match")))
    if body.get("range") is not None:
        return edge.FieldCondition(key, range=value_range(mapping(body["range"], "a range")))
    raise BadInput(f"Format error in JSON body: the condition on {key} has neither match nor range")


def field_key(body: Any) -> str:
    """The payload field a condition is about."""
    key = mapping(body, "a condition").get("key")
    if not isinstance(key, str) or not key:
        raise BadInput(f"Format error in JSON body: a condition needs a key, got {body}")
    return key


def match(body: Json) -> Any:
    """A match on one value or on any (or none) of several."""
    known(body, {"value", "any", "except"}, "match")
    if "value" in body:
        return edge.MatchValue(scalar(body["value"]))
    if "any" in body:
        return edge.MatchAny(scalars(body["any"]))
    if "except" in body:
        return edge.MatchExcept(scalars(body["except"]))
    raise BadInput("Format error in JSON body: a match needs value, any or except")


def scalar(value: Any) -> str | int:
    """A value a match can compare: a keyword or an integer."""
    if isinstance(value, bool):
        # qdrant-edge 0.9 takes True for the integer 1 and then never matches a stored boolean.
        raise NotOffered("matches on booleans (store flags as keywords)")
    if isinstance(value, str | int):
        return value
    raise BadInput(f"Format error in JSON body: cannot match {value!r}, only strings and integers")


def scalars(values: Any) -> Any:
    """Several of them, all of one type."""
    if not isinstance(values, list):
        raise BadInput("Format error in JSON body: a match on several values needs a list")
    checked = [scalar(value) for value in values]
    if len({type(value) for value in checked}) > 1:
        raise BadInput("Format error in JSON body: a match on several values cannot mix strings and integers")
    return checked


def value_range(body: Json) -> edge.RangeFloat | edge.RangeDateTime:
    """Bounds that are numbers compare numbers; bounds that are strings compare moments."""
    known(body, BOUNDS, "range bound")
    bounds = {name: bound for name, bound in body.items() if bound is not None}
    if all(isinstance(bound, str) for bound in bounds.values()) and bounds:
        return edge.RangeDateTime(**bounds)
    if all(isinstance(bound, int | float) and not isinstance(bound, bool) for bound in bounds.values()):
        return edge.RangeFloat(**{name: float(bound) for name, bound in bounds.items()})
    raise BadInput("Format error in JSON body: range bounds must be all numbers or all RFC 3339 strings")


def payload_selector(body: Any) -> Any:
    """`with_payload`: a switch, a list of keys, or keys to include or exclude."""
    if isinstance(body, bool):
        return body
    if isinstance(body, list):
        return edge.PayloadSelector.Include(body)
    known(mapping(body, "with_payload"), {"include", "exclude"}, "payload selector")
    if "include" in body:
        return edge.PayloadSelector.Include(body["include"])
    return edge.PayloadSelector.Exclude(body.get("exclude", []))


def vector_switch(body: Any) -> bool:
    """`with_vector`: there is one unnamed vector, so only on or off."""
    if isinstance(body, bool):
        return body
    raise NotOffered("named vectors")


def mapping(body: Any, what: str) -> Json:
    """The body, if it is a JSON object."""
    if not isinstance(body, dict):
        raise BadInput(f"Format error in JSON body: {what} must be an object, got {body!r}")
    return body


def listed(body: Json, name: str) -> list[Any]:
    """A list that must be there."""
    if not isinstance(body.get(name), list):
        raise BadInput(f"Format error in JSON body: `{name}` must be a list")
    return list(body[name])


def ids(body: Json, name: str) -> list[Any]:
    """A list of point ids."""
    return [point_id(each) for each in listed(body, name)]


def known(body: Json, names: frozenset[str] | set[str], what: str) -> None:
    """Raises NotOffered for any key with a value that is not among the names."""
    for name, value in body.items():
        if name not in names and value is not None:
            raise NotOffered(f"the {what} `{name}`")
