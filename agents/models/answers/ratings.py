"""Checks a model's ratings of messages' importance."""

from collections.abc import Iterable
from typing import Any, Final, TypeGuard

from schemas.extraction.requests import ExtractionRequest

MAX_RATINGS: Final = 32  # per answer
HIGHEST: Final = 10


def checked_ratings(found: Iterable[Any], request: ExtractionRequest) -> dict[str, int]:
    """Valid ratings (0 to 10) by message id, at most MAX_RATINGS. Invalid ones are ignored."""
    valid: dict[str, int] = {}
    for each in found:
        number, importance = (each.get("message"), each.get("importance")) if isinstance(each, dict) else (None, None)
        if not (_within(number, 1, len(request.messages)) and _within(importance, 0, HIGHEST)):
            continue
        valid[request.messages[number - 1].message_id] = importance
        if len(valid) >= MAX_RATINGS:
            break
    return valid


def _within(value: object, least: int, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
