"""Cursors of paged lists: opaque to clients, and rejected if another list made them."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import Annotated, Any, Final, TypeVar

from fastapi import Query

from agents.api.http.problems import Problem, invalid
from schemas import codec
from schemas.errors import Rejected

T = TypeVar("T")

MARK_BYTES: Final = 6  # of the list that a cursor is of

LimitOf = Annotated[int, Query(ge=1, le=500, description="How many at most.")]
CursorOf = Annotated[
    str | None, Query(alias="cursor", max_length=2_000, description="`next` of the page before; none for the first.")
]


def encode_cursor(place: Any, of: Any) -> str:
    """`of` says which list it is, with all that decides what is in it and in which order."""
    return urlsafe_b64encode(list_digest(of) + codec.encode(place)).rstrip(b"=").decode()


def decode_cursor(said: str, shape: type[T], of: Any) -> T:
    """What a cursor of this list stands for. Raises Problem 422."""
    try:
        data = urlsafe_b64decode(said.encode() + b"=" * (-len(said) % 4))
        if data[:MARK_BYTES] != list_digest(of):
            raise unknown_cursor()
        return codec.decode(data[MARK_BYTES:], shape)
    except (Rejected, ValueError) as exc:
        raise unknown_cursor() from exc


def list_digest(of: Any) -> bytes:
    return blake2b(codec.encode(of), digest_size=MARK_BYTES).digest()


def unknown_cursor() -> Problem:
    return invalid(
        "the cursor is none of this list: take `next` of the page before, with the same filters and order, "
        "or begin without one"
    )
