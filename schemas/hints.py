"""Adds to messages of invalid JSON what would have been valid: the values of an enum, the form of a time, a similar field."""

import re
from difflib import get_close_matches
from typing import Any, Final, Literal, get_args, get_origin

import msgspec

TIME: Final = "write a time with its offset, such as 2026-03-02T09:00:00Z"
AT: Final = re.compile(r" - at `\$(?P<path>(?:\.\w+|\[\.\.\.\]|\[\d+\])*)`$")
UNKNOWN: Final = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`")
MAX_NAME_CHARS: Final = 64
LONG: Final = re.compile(rf"([`'])([^`']{{{MAX_NAME_CHARS}}})[^`']+\1")


def with_hint(message: str, shape: Any) -> str:
    """The message of msgspec about a value of this shape, with a hint if there is one, and with long names and values cut."""
    at = AT.search(message)
    message = LONG.sub(r"\1\2...\1", message)
    names = re.findall(r"\.(\w+)", at["path"]) if at else []
    if "RFC3339" in message:
        return f"{message}: {TIME}"
    if message.startswith("Invalid enum value"):
        allowed = literals(type_at(shape, names))
        return f"{message}: use {', '.join(map(str, allowed))}" if allowed else message
    if (unknown := UNKNOWN.match(message)) is not None:
        similar = get_close_matches(unknown["name"][:MAX_NAME_CHARS], field_names(type_at(shape, names)), n=1)
        return f"{message}: did you mean `{similar[0]}`?" if similar else message
    return message


def type_at(shape: Any, names: list[str]) -> Any:
    """The type of a field below a Struct, by the names of its path; None if the path leaves the Structs."""
    for name in names:
        found = [each for struct in structs(shape) for each in msgspec.structs.fields(struct)]
        shape = next((each.type for each in found if each.encode_name == name), None)
    return shape


def structs(shape: Any) -> list[Any]:
    """The Structs that a type consists of: of `tuple[A, ...] | None`, A."""
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct):
        return [shape]
    return [struct for part in get_args(shape) for struct in structs(part)]


def field_names(shape: Any) -> list[str]:
    return [each.encode_name for struct in structs(shape) for each in msgspec.structs.fields(struct)]


def literals(shape: Any) -> list[Any]:
    """The values of the enums in a type."""
    if get_origin(shape) is Literal:
        return list(get_args(shape))
    return [value for part in get_args(shape) for value in literals(part)]
