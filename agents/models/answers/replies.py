"""Parses a model's reply: the requested JSON, or as many drafts as are readable. Checks ratings of messages."""

import json
from collections.abc import Iterable
from typing import Any, Final, TypeGuard

import orjson
from msgspec import Struct

from schemas.extraction.requests import ExtractionRequest

# Each failed attempt may read the rest of the reply, so their number is bounded; prose has few braces.
MAX_FAILED_ATTEMPTS = 100
MAX_RATINGS: Final = 32  # per reply
MAX_IMPORTANCE: Final = 10


class ExtractionReply(Struct, frozen=True):
    """The drafts of a reply, and its `ratings` of messages. `whole`: every part of the reply is readable."""

    drafts: tuple[Any, ...]
    whole: bool
    ratings: tuple[Any, ...] = ()


class UnreadableDraft(Struct, frozen=True):
    """The unreadable part of a reply, as an item of its drafts."""


def read_reply(text: str) -> ExtractionReply:
    """The drafts as builtins, unchecked. A reply of another shape is not `whole`, and has the readable drafts."""
    try:
        found = orjson.loads(without_code_fence(text))
    except orjson.JSONDecodeError:
        return ExtractionReply(tuple(recover_drafts(text)), whole=False)
    if isinstance(found, dict) and isinstance(found.get("memories"), list):
        ratings = found.get("ratings")
        return ExtractionReply(tuple(found["memories"]), True, tuple(ratings) if isinstance(ratings, list) else ())
    if isinstance(found, list):
        return ExtractionReply(tuple(found), whole=True)
    return ExtractionReply((), whole=False)


def read_summary(text: str) -> str | None:
    """The summary of a reply, unchecked; None for a reply of another shape."""
    try:
        found = orjson.loads(without_code_fence(text))
    except orjson.JSONDecodeError:
        return None
    summary = found.get("summary") if isinstance(found, dict) else None
    return summary if isinstance(summary, str) else None


def without_code_fence(text: str) -> str:
    return text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()


def recover_drafts(text: str) -> list[Any]:
    """The complete drafts in a truncated reply, or in one with other text around the JSON."""
    return recover_objects(text, "memories", "text")


def recover_objects(text: str, listed: str, field: str) -> list[Any]:
    """The complete JSON objects in a text: the items of every list `listed`, and objects that have `field`."""
    decoder = json.JSONDecoder()
    found: list[Any] = []
    failed = 0
    at = text.find("{")
    while at >= 0 and failed < MAX_FAILED_ATTEMPTS:
        try:
            item, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            failed += 1
            end = at + 1
        else:
            found.extend(item[listed] if isinstance(item.get(listed), list) else [item] if field in item else [])
        at = text.find("{", end)
    return found


def checked_ratings(found: Iterable[Any], request: ExtractionRequest) -> dict[str, int]:
    """Valid ratings (0 to 10) by message id, at most MAX_RATINGS. Invalid ones are ignored."""
    valid: dict[str, int] = {}
    for each in found:
        number, importance = (each.get("message"), each.get("importance")) if isinstance(each, dict) else (None, None)
        if not (
            is_integer_within(number, 1, len(request.messages)) and is_integer_within(importance, 0, MAX_IMPORTANCE)
        ):
            continue
        valid[request.messages[number - 1].message_id] = importance
        if len(valid) >= MAX_RATINGS:
            break
    return valid


def is_integer_within(value: object, least: int, most: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
