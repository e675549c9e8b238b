"""What a change of the published schemas breaks for those who wrote against an earlier version; schemas/README.md has the rules.

What memstream publishes (`out`) rests in topics that old and new consumers read, old records beside new ones: what was said
of a field stays exactly so, fields may be added, and values only of the enums that consumers are told to expect new ones of.
What it reads (`in`) may be accepted more generously, never less.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

Schema: TypeAlias = dict[str, Any]
Side = Literal["in", "out"]

# Consumers pass over a change they do not know, and take a status other than `active` for "not live".
OPEN_ENUMS: Final = frozenset(("Memory.status", "MemoryChanged.change"))
REMEDY: Final = (
    "keep it as it was and add an optional field beside it; or, if it must change, publish it as another type under another "
    "topic, raise the major in schemas/documents/generate.py and freeze that under schemas/published"
)

SAID_ONLY: Final = frozenset(("$schema", "$id", "$defs", "title", "description"))
COMPARED_APART: Final = frozenset(("$ref", "properties", "required", "enum", "anyOf", "items", "additionalProperties"))
LOWER_BOUNDS: Final = frozenset(("minimum", "exclusiveMinimum", "minLength", "minItems"))
UPPER_BOUNDS: Final = frozenset(("maximum", "exclusiveMaximum", "maxLength", "maxItems"))
LIFTED: Final = frozenset(("format", "pattern"))  # what is read may do without them


def breaks(frozen: Path, now: Path) -> list[str]:
    """Sentences about what the folder `now` breaks of the folder `frozen`, each with what to do; [] when nothing.

    Both hold asyncapi.json and the files it names; every topic that `frozen` reads or publishes is compared.
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
    """The files of schemas that an AsyncAPI document names for topics that others read or write, and which it is."""
    found: dict[str, Side] = {}
    for name, message in document["components"]["messages"].items():
        side = _side(document, name)
        for part in ("payload", "headers"):
            if side is not None and part in message:
                found[message[part]["$ref"].removeprefix("./")] = side
    return found


def _side(document: Schema, topic: str) -> Side | None:
    """None for what memstream writes to itself."""
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
            yield f"the topic {topic} is no longer there for others"
            continue
        for part in ("payload", "headers", "contentType", "bindings"):
            if was.get(part) != now.get(part):
                yield f"the {part} of the topic {topic} was {was.get(part)} and is {now.get(part)}"


class Comparison:
    """Of two versions of one schema. References are followed, so definitions may be renamed."""

    def __init__(self, old: Schema, new: Schema, side: Side) -> None:
        self._old = old
        self._new = new
        self._side = side
        self._followed: set[tuple[str, str]] = set()

    def breaks(self) -> list[str]:
        """One sentence a difference, without the remedy."""
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
        """Each that there was must still be there; of what is published, no other may be there."""
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
        """Compares without remembering what it followed: an alternative that does not fit says nothing of another."""
        tried = Comparison(self._old, self._new, self._side)
        tried._followed = set(self._followed)
        return list(tried._compare(old, new, at))


def resolved(schema: Schema, root: Schema) -> Schema:
    """The definition a reference leads to, with what stands beside the reference."""
    if "$ref" not in schema:
        return schema
    beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    name = schema["$ref"].removeprefix("#/$defs/")
    return resolved(root["$defs"][name], root) | beside


def alternatives(schema: Schema) -> list[Schema]:
    """The parts of an `anyOf`; a schema without one is its own only alternative, its default apart."""
    if "anyOf" in schema:
        return list(schema["anyOf"])
    return [{keyword: value for keyword, value in schema.items() if keyword != "default"}]
