"""JSON in and out: orjson for the bytes, msgspec for the shape. What fails says whether it was the bytes or the shape."""

from typing import Any, TypeVar

import msgspec
import orjson

from schemas.errors import Rejected

T = TypeVar("T")


def encode(value: Any) -> bytes:
    """Compact UTF-8 JSON of a Struct, or of builtins; datetimes as RFC 3339."""
    return orjson.dumps(msgspec.to_builtins(value))


def decode(data: bytes | None, shape: type[T]) -> T:
    """Raises Rejected with reason `undecodable` (not JSON) or `invalid` (JSON of another shape, naming the place)."""
    return shaped(parse(data), shape)


def parse(data: bytes | None) -> Any:
    """JSON as builtins. Raises Rejected with reason `undecodable`."""
    if data is None:
        raise Rejected("undecodable", "the record has no value")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as exc:
        raise Rejected("undecodable", f"not JSON: {exc}") from exc


def shaped(value: Any, shape: type[T]) -> T:
    """Builtins as a Struct. Raises Rejected with reason `invalid`, naming the place."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as exc:
        raise Rejected("invalid", f"not a {shape.__name__}: {exc}") from exc
