"""Cursors of paged lists: opaque to clients, and valid only for the list that issued them."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Annotated, Any, Final, TypeVar

from fastapi import Query

from agents.api.http.problems import Problem, invalid
from schemas import codec
from schemas.errors import Rejected

T = TypeVar("T")

DIGEST_BYTES: Final = 6

LimitOf = Annotated[int, Query(ge=1, le=500, description="Maximum number of entries in the response.")]
CursorOf = Annotated[
    str | None,
    Query(alias="cursor", max_length=2_000, description="`next` of the previous page; absent for the first page."),
]


def encode_cursor(place: Any, list_key: Any) -> str:
    """Encodes a place in a list. `of` identifies the list, including its filters and order."""
    return urlsafe_b64encode(list_digest(list_key) + codec.encode(place)).rstrip(b"=").decode()


def decode_cursor(cursor: str, shape: type[T], list_key: Any) -> T:
    """Returns the place that a cursor of the list `of` encodes. Raises Problem 422 for any other cursor."""
    try:
        data = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        if data[:DIGEST_BYTES] != list_digest(list_key):
            raise unknown_cursor()
        return codec.decode(data[DIGEST_BYTES:], shape)
    except (Rejected, ValueError) as exc:
        raise unknown_cursor() from exc


def list_digest(list_key: Any) -> bytes:
    return blake2b(codec.encode(list_key), digest_size=DIGEST_BYTES).digest()


def unknown_cursor() -> Problem:
    return invalid(
        "the cursor belongs to another list: use `next` of the previous page with the same filters and order, "
        "or omit `cursor`"
    )
