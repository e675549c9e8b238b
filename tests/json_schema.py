"""Checks JSON values against the generated schemas, with the keywords that these use."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

GENERATED = Path(__file__).parents[1] / "schemas" / "generated"
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
PASSED_OVER = {"$schema", "$id", "$defs", "title", "description", "default"}


def violations(value: Any, name: str) -> list[str]:
    """The violations of schemas/generated/NAME.schema.json by the value, each with its place."""
    schema = json.loads((GENERATED / f"{name}.schema.json").read_text())
    return _complaints(value, schema, schema, "$")


def _complaints(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str) -> list[str]:
    said: list[str] = []
    for keyword, wanted in schema.items():
        if keyword in PASSED_OVER:
            continue
        said += CHECKS[keyword](value, wanted, root, at)
    return said


def _ref(value: Any, wanted: str, root: dict[str, Any], at: str) -> list[str]:
    return _complaints(value, root["$defs"][wanted.removeprefix("#/$defs/")], root, at)


def _type(value: Any, wanted: str, root: dict[str, Any], at: str) -> list[str]:
    fits = isinstance(value, TYPES[wanted]) and (wanted == "boolean" or not isinstance(value, bool))
    return [] if fits else [f"{at} is {value!r}, not of type {wanted}"]


def _properties(value: Any, wanted: dict[str, Any], root: dict[str, Any], at: str) -> list[str]:
    return [
        said
        for name, schema in wanted.items()
        if isinstance(value, dict) and name in value
        for said in _complaints(value[name], schema, root, f"{at}.{name}")
    ]


def _required(value: Any, wanted: list[str], root: dict[str, Any], at: str) -> list[str]:
    return [f"{at} lacks {name}" for name in wanted if name not in value]


def _additional(value: Any, wanted: Any, root: dict[str, Any], at: str) -> list[str]:
    return [] if wanted is not False else [f"{at} belongs to a closed schema, which no event should be"]


def _any_of(value: Any, wanted: list[dict[str, Any]], root: dict[str, Any], at: str) -> list[str]:
    tried = [_complaints(value, schema, root, at) for schema in wanted]
    return [] if any(not said for said in tried) else min(tried, key=len)


def _enum(value: Any, wanted: list[Any], root: dict[str, Any], at: str) -> list[str]:
    return [] if value in wanted else [f"{at} is {value!r}, not one of {wanted}"]


def _items(value: Any, wanted: dict[str, Any], root: dict[str, Any], at: str) -> list[str]:
    listed = value if isinstance(value, list) else []
    return [said for number, each in enumerate(listed) for said in _complaints(each, wanted, root, f"{at}[{number}]")]


def _format(value: Any, wanted: str, root: dict[str, Any], at: str) -> list[str]:
    if wanted != "date-time" or not isinstance(value, str):
        return []
    try:
        zoned = datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        zoned = False
    return [] if zoned else [f"{at} is {value!r}, not an RFC 3339 time"]


def _bound(fits: Any, word: str) -> Any:
    def check(value: Any, wanted: Any, root: dict[str, Any], at: str) -> list[str]:
        return [] if fits(value, wanted) else [f"{at} is {value!r}, {word} {wanted}"]

    return check


CHECKS: dict[str, Any] = {
    "$ref": _ref,
    "type": _type,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional,
    "anyOf": _any_of,
    "enum": _enum,
    "items": _items,
    "format": _format,
    "minimum": _bound(lambda value, wanted: not isinstance(value, int | float) or value >= wanted, "below"),
    "maximum": _bound(lambda value, wanted: not isinstance(value, int | float) or value <= wanted, "above"),
    "minLength": _bound(lambda value, wanted: not isinstance(value, str) or len(value) >= wanted, "shorter than"),
    "maxLength": _bound(lambda value, wanted: not isinstance(value, str) or len(value) <= wanted, "longer than"),
    "minItems": _bound(lambda value, wanted: not isinstance(value, list) or len(value) >= wanted, "fewer than"),
    "maxItems": _bound(lambda value, wanted: not isinstance(value, list) or len(value) <= wanted, "more than"),
}
