"""The checks on how important a model says messages are to the rest of their conversation."""

from collections.abc import Iterable
from typing import Any, Final, TypeGuard

from schemas.extraction.requests import ExtractionRequest

MOST_RATINGS: Final = 32  # of one answer
HIGHEST: Final = 10


def checked_ratings(found: Iterable[Any], request: ExtractionRequest) -> dict[str, int]:
    """By message id, from 0 to 10. What names no message of the slice or is no such number is passed over: it costs nothing."""
    kept: dict[str, int] = {}
    for each in found:
        number, importance = (each.get("message"), each.get("importance")) if isinstance(each, dict) else (None, None)
        if not (_within(number, 1, len(request.messages)) and _within(importance, 0, HIGHEST)):
            continue
        kept[request.messages[number - 1].message_id] = importance
        if len(kept) >= MOST_RATINGS:
            break
    return kept


def _within(value: object, least: int, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
