"""JSON Schemas as Markdown: a table of fields per shape, with links to other shapes."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from schemas import codec
from schemas.documents.descriptions import MEANINGS

Schema = Mapping[str, Any]

NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")
LIMITS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
    "minimum": "≥ {}",
    "maximum": "≤ {}",
    "exclusiveMinimum": "> {}",
    "exclusiveMaximum": "< {}",
    "pattern": "like `{}`",
}
FORMATS = {"date-time": "RFC 3339", "uuid": "UUID", "binary": "bytes"}
MEANT = {0, 1}  # bounds that are not shown


def anchor(heading: str) -> str:
    """The anchor that GitHub derives from a heading."""
    return NOT_IN_ANCHORS.sub("", heading.lower()).replace(" ", "-")


def link(name: str) -> str:
    return f"[{name}](#{anchor(name)})"


def references(schema: Any) -> Iterator[str]:
    """Names of the shapes that a schema refers to, in order."""
    if isinstance(schema, Mapping):
        for name, value in schema.items():
            if name == "$ref" and isinstance(value, str):
                yield value.rpartition("/")[2]
            elif name != "$defs":
                yield from references(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from references(each)


def table(name: str, schema: Schema) -> list[str]:
    """The table of a shape's fields; empty for a shape without fields."""
    fields: Mapping[str, Schema] = schema.get("properties", {})
    if not fields:
        return []
    needed = set(schema.get("required", ()))
    rows = [row(name, field, each, field in needed) for field, each in fields.items()]
    ordered = sorted(rows, key=lambda each: not each[0])
    has_meanings = any(meaning for *_, meaning in ordered)
    columns = ["Field", "Type", "Default", *(["Meaning"] if has_meanings else [])]
    head = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return [*head, *(f"| {' | '.join(cells if has_meanings else cells[:3])} |" for _, *cells in ordered)]


def row(shape: str, field: str, schema: Schema, needed: bool) -> tuple[bool, str, str, str, str]:
    shown = f"**`{field}`**" if needed else f"`{field}`"
    default = "needed" if needed else value(schema.get("default"))
    return needed, shown, kind(schema), default, cell(meaning(shape, field, schema))


def meaning(shape: str, field: str, schema: Schema) -> str:
    return str(MEANINGS.get(shape, {}).get(field) or schema.get("description") or "")


def value(default: Any) -> str:
    return "" if default is None else f"`{codec.encode(default).decode()}`"


def cell(text: str) -> str:
    """The text on one line, with `|` escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def kind(schema: Schema) -> str:
    """The type and the bounds of a value, in words."""
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        kinds = [kind(each) for each in choices if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "const" in schema:
        return value(schema["const"])
    if "enum" in schema:
        return ", ".join(value(each) for each in schema["enum"])
    return ", ".join([plain(schema), *limits(schema)])


def plain(schema: Schema) -> str:
    type_name = schema.get("type", "anything")
    if type_name == "array":
        return f"list of {kind(schema.get('items', {}))}"
    if type_name == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {kind(schema['additionalProperties'])}"
    if type_name == "string":
        return FORMATS.get(schema.get("format", ""), "string")
    return str(type_name)


def limits(schema: Schema) -> Iterator[str]:
    for name, said in LIMITS.items():
        limit = schema.get(name)
        if limit is not None and not (name.startswith("min") and limit in MEANT and name != "minimum"):
            yield cell(said.format(number(limit) if isinstance(limit, int | float) else limit))


def number(limit: float) -> str:
    return f"{int(limit):,}" if limit == int(limit) else str(limit)


def section(name: str, schema: Schema, level: int = 3) -> list[str]:
    """A shape with heading, description and fields."""
    description = str(schema.get("description", "")).strip()
    return ["#" * level + f" {name}", "", *([description, ""] if description else []), *table(name, schema), ""]
