"""JSON in and out: msgspec where a shape is known, orjson for any JSON. What fails says whether it was bytes or shape."""

from typing import Any, TypeVar

import msgspec
import orjson

from schemas.errors import Rejected

T = TypeVar("T")

# Levels that may come in; orjson reads 1,024 of them, and what is read is written again inside our own rows.
DEEPEST = 100
ARRAY = ord("[")  # to look for bytes in bytes costs an exception inside


class Unreadable(bytes):
    """A value as it came, of which is known already why it cannot be read: decoding it raises that."""

    def __new__(cls, value: bytes, rejected: Rejected) -> "Unreadable":
        return super().__new__(cls, value)

    def __init__(self, value: bytes, rejected: Rejected) -> None:
        self.rejected = rejected


def encode(value: Any) -> bytes:
    """Compact UTF-8 JSON of a Struct, or of builtins; datetimes as RFC 3339."""
    return msgspec.json.encode(value)


def decode_untrusted(data: bytes | None, shape: type[T]) -> T:
    """What others wrote: `decode`, and Rejected `invalid` for what is nested so deeply that our own rows around it could fail."""
    if (
        data is not None
        and (ARRAY in data or data.find(b"{", 1) > 0)  # to find that most have one level takes a sixth of counting
        and data.count(b"[") + data.count(b"{") > DEEPEST
    ):
        parse(data)
    return decode(data, shape)


def decode(data: bytes | None, shape: type[T]) -> T:
    """Raises Rejected with reason `undecodable` (not JSON) or `invalid` (JSON of another shape, naming the place)."""
    if data is None:
        raise Rejected("undecodable", "the record has no value")
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError as exc:
        raise Rejected("invalid", f"not a {shape.__name__}: {exc}") from exc
    except RecursionError as exc:
        raise Rejected("invalid", f"not a {shape.__name__}: nested too deeply") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        if isinstance(data, Unreadable):
            raise data.rejected from exc
        raise Rejected("undecodable", f"not JSON: {exc}") from exc


def parse(data: bytes | None) -> Any:
    """JSON as builtins. Raises Rejected with reason `undecodable`."""
    if data is None:
        raise Rejected("undecodable", "the record has no value")
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as exc:
        if isinstance(data, Unreadable):
            raise data.rejected from exc
        raise Rejected("undecodable", f"not JSON: {exc}") from exc
    if data.count(b"[") + data.count(b"{") > DEEPEST and depth(value) > DEEPEST:
        raise Rejected("invalid", f"nested deeper than {DEEPEST} levels")
    return value


def depth(value: Any) -> int:
    """Levels of nesting: 0 for a scalar, 1 for a flat list or object."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        each, level = waiting.pop()
        if isinstance(each, dict | list):
            deepest = max(deepest, level)
            waiting += [(inner, level + 1) for inner in (each.values() if isinstance(each, dict) else each)]
    return deepest


def convert(value: Any, shape: type[T]) -> T:
    """Builtins as a Struct. Raises Rejected with reason `invalid`, naming the place."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as exc:
        raise Rejected("invalid", f"not a {shape.__name__}: {exc}") from exc
