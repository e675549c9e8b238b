"""Cursors of lists that come in pages: opaque to clients, and refused when they are not ours."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Any, TypeVar

from fastapi import Query

from agents.api.problems import Problem, invalid
from schemas import codec
from schemas.errors import Rejected

T = TypeVar("T")

LimitOf = Annotated[int, Query(ge=1, le=500, description="How many at most.")]
CursorOf = Annotated[
    str | None, Query(alias="cursor", max_length=2_000, description="`next` of the page before; none for the first.")
]


def cursor(place: Any) -> str:
    return urlsafe_b64encode(codec.encode(place)).rstrip(b"=").decode()


def place(said: str, shape: type[T]) -> T:
    """What a cursor stands for. Raises Problem 422."""
    try:
        return codec.decode(urlsafe_b64decode(said.encode() + b"=" * (-len(said) % 4)), shape)
    except (Rejected, ValueError) as exc:
        raise foreign() from exc


def foreign() -> Problem:
    return invalid("the cursor is none of this list: take `next` of the page before, or begin without one")
