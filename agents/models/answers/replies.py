"""Parses a model's reply: the requested JSON, or as many drafts as are readable."""

import json
from typing import Any

import orjson
from msgspec import Struct

# Each failed attempt may read the rest of the reply, so their number is bounded; prose has few braces.
MAX_FAILED_ATTEMPTS = 100


class Reply(Struct, frozen=True):
    """The drafts of a reply, and its `ratings` of messages. `whole`: every part of the reply is readable."""

    drafts: tuple[Any, ...]
    whole: bool
    ratings: tuple[Any, ...] = ()


class Unreadable(Struct, frozen=True):
    """Stands among the drafts for the unreadable part of a reply."""


def read_reply(text: str) -> Reply:
    """The drafts as builtins, unchecked. A reply of another shape is not `whole`, and has the readable drafts."""
    try:
        found = orjson.loads(without_code_fence(text))
    except orjson.JSONDecodeError:
        return Reply(tuple(recover_drafts(text)), whole=False)
    if isinstance(found, dict) and isinstance(found.get("memories"), list):
        ratings = found.get("ratings")
        return Reply(tuple(found["memories"]), True, tuple(ratings) if isinstance(ratings, list) else ())
    if isinstance(found, list):
        return Reply(tuple(found), whole=True)
    return Reply((), whole=False)


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
    """The complete objects with a text in a truncated reply, or in one with other text around the JSON."""
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
            found.extend(
                item["memories"] if isinstance(item.get("memories"), list) else [item] if "text" in item else []
            )
        at = text.find("{", end)
    return found
