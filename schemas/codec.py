"""JSON decoding and encoding: msgspec for known shapes, orjson for any JSON. Errors tell invalid JSON from other shapes."""

import re
from typing import Any, TypeVar

import msgspec
import orjson

from schemas.errors import Rejected
from schemas.hints import with_hint

T = TypeVar("T")

# Levels of nesting accepted in input. orjson reads 1,024, and input is stored within JSON of our own.
DEEPEST = 100
ESCAPED_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
# Escapes of a surrogate pair or of half of one, behind an even number of backslashes.
SURROGATES = re.compile(
    rb"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
HALF_BYTES = len(rb"\ud83d")
ARRAY = ord("[")  # `int in bytes` is faster than `bytes in bytes`


class Unreadable(bytes):
    """A value that is known to be unreadable, with the reason: decoding it raises the reason."""

    def __new__(cls, value: bytes, rejected: Rejected) -> "Unreadable":
        return super().__new__(cls, value)

    def __init__(self, value: bytes, rejected: Rejected) -> None:
        self.rejected = rejected


def encode(value: Any) -> bytes:
    """Compact UTF-8 JSON of a Struct, or of builtins; datetimes as RFC 3339."""
    return msgspec.json.encode(value)


def decode_untrusted(data: bytes | None, shape: type[T]) -> T:
    """`decode` for input from others. Also raises Rejected `invalid` for JSON that is nested too deeply to be stored within a
    row.

    Replaces each NUL, as an id must read the same in windows as in PostgreSQL, which cannot store it. Replaces each half of a
    surrogate pair: JavaScript clients send it if they cut a text within an emoji.
    """
    if data is None or isinstance(data, Unreadable):
        return decode(data, shape)
    data = without_nul(data)
    if (
        (
            ARRAY in data or data.find(b"{", 1) > 0
        )  # most values have one level, and this check takes a sixth of the time of counting
        and data.count(b"[") + data.count(b"{") > DEEPEST
    ):
        parse(without_lone_surrogates(data))
    try:
        return decode(data, shape)
    except Rejected:
        readable = without_lone_surrogates(data)  # only now: searching takes longer than decoding
        if readable == data:
            raise
    return decode(readable, shape)


def without_nul(data: bytes) -> bytes:
    """The JSON with each NUL in a string replaced by U+FFFD."""
    if b"\\u0000" not in data:  # the common case; the regular expression takes much longer than encoding
        return data
    return ESCAPED_NUL.sub(rb"\1\\ufffd", data)


def without_lone_surrogates(data: bytes) -> bytes:
    """The JSON with each escaped half of a surrogate pair replaced by U+FFFD."""
    return SURROGATES.sub(lambda found: found[0] if len(found[2]) > HALF_BYTES else found[1] + rb"\ufffd", data)


def decode(data: bytes | None, shape: type[T]) -> T:
    """Decodes JSON. Raises Rejected with reason `undecodable` (not JSON) or `invalid` (another shape, naming the place)."""
    if data is None:
        raise Rejected("undecodable", "the record has no value")
    try:
        return msgspec.json.decode(data, type=shape)
    except msgspec.ValidationError as exc:
        raise Rejected("invalid", f"not a {shape.__name__}: {with_hint(str(exc), shape)}") from exc
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
        raise Rejected("invalid", f"not a {shape.__name__}: {with_hint(str(exc), shape)}") from exc
