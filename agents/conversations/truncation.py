"""Truncates texts and arguments of tool calls in the middle, with a mark that says how much is left out."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from schemas import codec
from schemas.errors import Rejected
from streams.windows.tokens.counting import TokenCount

HEAD_SHARE: Final = 0.7  # share of the remaining text that is its beginning
STEP: Final = 0.9
SHORTEST_STRING: Final = 100  # characters of a truncated string in arguments, twice the length of its mark
JSON_KEY: Final = "..."  # the key of truncated JSON, if no string is long enough to truncate


def truncate(text: str, tokens: int, most: int, count: TokenCount) -> str:
    """The beginning and end of a text with `tokens` tokens, at most `most`; only the mark if nothing else fits."""
    characters = len(text) * most / tokens
    while True:
        found = _without_middle(text, int(characters))
        if characters < 1 or count(found) <= most:
            return found
        characters *= STEP


def truncate_arguments(arguments: Any, most: int, count: TokenCount) -> Any:
    """Arguments with at most `most` tokens as JSON, or as few as possible.

    Long strings lose their middles. If that is not enough, an object with the beginning and the end of the JSON replaces
    all. JSON in a string, as some providers have it, stays JSON in a string.
    """
    inner = _json_in(arguments)
    if inner is not None:
        return json_text(truncate_arguments(inner, most, lambda text: count(json_text(text))))
    text = json_text(arguments)
    tokens = count(text)
    lengths = [len(each) for each in _strings(arguments)]
    found = size_limit(lengths, len(text) - int(len(text) * most / tokens), SHORTEST_STRING)
    characters = float(found or 0)
    while characters >= SHORTEST_STRING:
        shorter = _with_short_strings(arguments, int(characters))
        if count(json_text(shorter)) <= most:
            return shorter
        characters *= STEP
    return {JSON_KEY: truncate(text, tokens, most, lambda left: count(json_text({JSON_KEY: left})))}


def size_limit(sizes: Sequence[int], over: int, least: int) -> int | None:
    """The maximum size for each, so that all together shrink by `over`; None if that is below `least`."""
    low, high = least, max(least, max(sizes, default=0))
    if sum(max(0, size - low) for size in sizes) < over:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if sum(max(0, size - middle) for size in sizes) >= over:
            low = middle
        else:
            high = middle - 1
    return low


def json_text(value: Any) -> str:
    return codec.encode(value).decode()


def _without_middle(text: str, characters: int) -> str:
    head = int(HEAD_SHARE * characters)
    tail = characters - head
    return f"{text[:head]}\n... [{len(text) - characters:,} characters left out] ...\n{text[len(text) - tail :]}"


def _json_in(arguments: Any) -> Any:
    """The object or list that a string contains as JSON; None if it contains none."""
    if not isinstance(arguments, str) or not arguments.lstrip().startswith(("{", "[")):
        return None
    try:
        return codec.parse(arguments.encode("utf-8", "surrogatepass"))
    except Rejected:
        return None


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _with_short_strings(value: Any, characters: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= characters else _without_middle(value, characters)
    if isinstance(value, dict):
        return {name: _with_short_strings(each, characters) for name, each in value.items()}
    return [_with_short_strings(each, characters) for each in value] if isinstance(value, list) else value
