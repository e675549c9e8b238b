"""Differences between published schemas that break existing users; schemas/README.md has the rules.

Records that memstream publishes (`out`) rest in topics, where old and new consumers read old and new records: fields keep
their description exactly, new fields are allowed, and enums may only grow if consumers are told to expect it. Input that
memstream reads (`in`) may be accepted more generously, never less.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

Schema: TypeAlias = dict[str, Any]
Side = Literal["in", "out"]

# Consumers ignore unknown changes, and treat every status except `active` as not live.
OPEN_ENUMS: Final = frozenset(("Memory.status", "MemoryChanged.change"))
REMEDY: Final = (
    "keep it as it was and add an optional field beside it; or, if it must change, publish it as another type under another "
    "topic, raise the major in schemas/documents/generate.py and freeze that under schemas/published"
)

SAID_ONLY: Final = frozenset(("$schema", "$id", "$defs", "title", "description"))
COMPARED_APART: Final = frozenset(("$ref", "properties", "required", "enum", "anyOf", "items", "additionalProperties"))
LOWER_BOUNDS: Final = frozenset(("minimum", "exclusiveMinimum", "minLength", "minItems"))
UPPER_BOUNDS: Final = frozenset(("maximum", "exclusiveMaximum", "maxLength", "maxItems"))
LIFTED: Final = frozenset(("format", "pattern"))  # input may leave them out


def breaking_changes(frozen: Path, now: Path) -> list[str]:
    """The incompatible differences of the folder `now` from the folder `frozen`: a sentence each, with the remedy.

    Both folders have asyncapi.json and the files that it names; every topic that `frozen` reads or publishes is compared.
    """
    old, new = (json.loads((folder / "asyncapi.json").read_text()) for folder in (frozen, now))
    found = list(_topics(old, new))
    for name, side in sorted(sides(old).items()):
        if not (now / name).exists():
            found.append(f"{name} is gone")
            continue
        old_schema, new_schema = (json.loads((folder / name).read_text()) for folder in (frozen, now))
        found += Comparison(old_schema, new_schema, side).breaks()
    return [f"{each}: {REMEDY}" for each in found]


def sides(document: Schema) -> dict[str, Side]:
    """The schema files of topics that others read or write, each with its side."""
    found: dict[str, Side] = {}
    for name, message in document["components"]["messages"].items():
        side = _side(document, name)
        for part in ("payload", "headers"):
            if side is not None and part in message:
                found[message[part]["$ref"].removeprefix("./")] = side
    return found


def _side(document: Schema, topic: str) -> Side | None:
    """None for topics that memstream uses itself."""
    reads, writes = (f"{action}-{topic}" in document["operations"] for action in ("receive", "send"))
    if reads and writes:
        return None
    return "in" if reads else "out"


def _topics(old: Schema, new: Schema) -> Iterator[str]:
    for topic, was in old["components"]["messages"].items():
        side = _side(old, topic)
        if side is None:
            continue
        now = new["components"]["messages"].get(topic)
        if now is None or _side(new, topic) != side:
            yield f"the topic {topic} is no longer public"
            continue
        for part in ("payload", "headers", "contentType", "bindings"):
            if was.get(part) != now.get(part):
                yield f"the {part} of the topic {topic} was {was.get(part)} and is {now.get(part)}"


class Comparison:
    """A comparison of two versions of a schema. It follows references, so definitions may be renamed."""

    def __init__(self, old: Schema, new: Schema, side: Side) -> None:
        self._old = old
        self._new = new
        self._side = side
        self._followed: set[tuple[str, str]] = set()

    def breaks(self) -> list[str]:
        """One sentence per difference, without the remedy."""
        return list(self._compare(self._old, self._new, self._old.get("title", "$")))

    def _compare(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        references = (old.get("$ref", ""), new.get("$ref", ""))
        if all(references) and references in self._followed:
            return
        self._followed.add(references)
        old, new = resolved(old, self._old), resolved(new, self._new)
        if "anyOf" in old or "anyOf" in new:
            yield from self._alternatives(old, new, at)
            return
        at = old.get("title", at)
        for keyword in sorted((old.keys() | new.keys()) - SAID_ONLY - COMPARED_APART):
            if not self._fits(keyword, old.get(keyword), new.get(keyword)):
                yield f"{keyword} of {at} was {old.get(keyword)} and is {new.get(keyword)}"
        yield from self._enums(old.get("enum"), new.get("enum"), at)
        yield from self._fields(old, new, at)
        yield from self._inner(old, new, "items", f"{at}[]")
        yield from self._inner(old, new, "additionalProperties", f"{at}.*")

    def _fits(self, keyword: str, old: Any, new: Any) -> bool:
        if old == new:
            return True
        if self._side == "out":
            return False
        if keyword == "type":
            return (old, new) == ("integer", "number")
        if new is None:
            return keyword in LIFTED | LOWER_BOUNDS | UPPER_BOUNDS
        if old is None:
            return False
        return bool(keyword in LOWER_BOUNDS and new < old) or bool(keyword in UPPER_BOUNDS and new > old)

    def _enums(self, old: list[Any] | None, new: list[Any] | None, at: str) -> Iterator[str]:
        if old is None or new is None:
            if old != new and not (self._side == "in" and new is None):
                yield f"the values of {at} were {old or 'any'} and are {new or 'any'}"
            return
        if gone := [value for value in old if value not in new]:
            yield f"{at} no longer knows {gone}"
        added = [value for value in new if value not in old]
        if added and self._side == "out" and at not in OPEN_ENUMS:
            yield f"{at} has new values {added}, which consumers were not told to expect"

    def _fields(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        were, are = old.get("properties", {}), new.get("properties", {})
        for name, was in were.items():
            if name not in are:
                yield f"{at}.{name} is gone"
            else:
                yield from self._compare(was, are[name], f"{at}.{name}")
        required, requires = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(requires - required):
            yield f"{at}.{name} is required, which records written before do not know"
        if self._side == "out":
            for name in sorted((required - requires) & are.keys()):
                yield f"{at}.{name} may be left out now"
            if old.get("additionalProperties") is False and (added := sorted(are.keys() - were.keys())):
                yield f"{at} was closed and has new fields {added}"

    def _inner(self, old: Schema, new: Schema, keyword: str, at: str) -> Iterator[str]:
        was, now = old.get(keyword, True), new.get(keyword, True)
        if isinstance(was, dict) and isinstance(now, dict):
            yield from self._compare(was, now, at)
        elif was != now and not (self._side == "in" and now is True) and not (self._side == "in" and was is False):
            yield f"{at} was {was} and is {now}"

    def _alternatives(self, old: Schema, new: Schema, at: str) -> Iterator[str]:
        """Every earlier alternative must still exist; published schemas may have no new ones."""
        if old.get("default") != new.get("default"):
            yield f"default of {at} was {old.get('default')} and is {new.get('default')}"
        were, are = alternatives(old), alternatives(new)
        for was in were:
            tried = [self._apart(was, now, at) for now in are]
            if all(tried):
                yield from min(tried, key=len)
        if self._side == "out":
            unknown = [now for now in are if all(self._apart(was, now, at) for was in were)]
            if len(are) > len(were) and unknown:
                yield f"{at} may be {unknown} now"

    def _apart(self, old: Schema, new: Schema, at: str) -> list[str]:
        """Compares without recording the followed references: a mismatch of one alternative says nothing about the others."""
        tried = Comparison(self._old, self._new, self._side)
        tried._followed = set(self._followed)
        return list(tried._compare(old, new, at))


def resolved(schema: Schema, root: Schema) -> Schema:
    """The definition that a reference names, merged with the keys next to the reference."""
    if "$ref" not in schema:
        return schema
    beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    name = schema["$ref"].removeprefix("#/$defs/")
    return resolved(root["$defs"][name], root) | beside


def alternatives(schema: Schema) -> list[Schema]:
    """The parts of an `anyOf`; without one, the schema itself without its default."""
    if "anyOf" in schema:
        return list(schema["anyOf"])
    return [{keyword: value for keyword, value in schema.items() if keyword != "default"}]
