"""Policy files in YAML or JSON: reads them, and reports errors with line, place and remedy."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import yaml
from msgspec import Struct
from msgspec.structs import fields

from deploy.policies.yaml_text import Document, documents
from schemas.errors import Misconfigured
from schemas.policies.policies import Policy

PRESETS = Path(__file__).with_name("presets")

PLACE = re.compile(r" - at `\$(.*)`$")
STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
UNKNOWN = re.compile(r"unknown field `(.*?)`")
TYPES = re.compile(r"`([a-z |]+)`")
WORDS = {
    **{"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"},
    **{"array": "a list", "object": "fields", "null": "nothing"},
}


class PolicyText(Struct, frozen=True):
    """A policy as read from a file; `version` is None if the file has none."""

    policy: Policy
    version: int | None
    origin: str


def presets() -> dict[str, Path]:
    """The files of the policies that ship, by name."""
    return {path.stem: path for path in sorted(PRESETS.glob("*.yaml"))}


def preset(name: str) -> Path:
    """The preset. Raises Misconfigured for an unknown name."""
    known = presets()
    if name not in known:
        raise Misconfigured(f"no preset is called {name!r}; the presets are {', '.join(known)}")
    return known[name]


def shipped() -> dict[str, Policy]:
    """The policies that ship, by name."""
    return {name: read_file(path)[0].policy for name, path in presets().items()}


def read_files(paths: Iterable[Path]) -> list[PolicyText]:
    """The policies of files, in order. Raises Misconfigured with all errors of all files, one per line."""
    found: list[PolicyText] = []
    wrong: list[str] = []
    for path in paths:
        try:
            found += read_file(path)
        except Misconfigured as exc:
            wrong.append(str(exc))
    by_name: dict[str, PolicyText] = {}
    for written in found:
        if (other := by_name.setdefault(written.policy.name, written)) is not written:
            wrong.append(
                f"{written.origin}: {other.origin} has a policy {written.policy.name!r} too: rename one of them"
            )
    if wrong:
        raise Misconfigured("\n".join(wrong))
    return found


def read_file(path: Path) -> list[PolicyText]:
    """The policies of a file: one, a list, or several documents separated by `---`. Raises Misconfigured."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as exc:
        raise Misconfigured(f"{path}: cannot be read: {exc.strerror}: name a YAML or JSON file") from exc
    except UnicodeDecodeError as exc:
        raise Misconfigured(f"{path}: is not UTF-8 ({exc.reason} at byte {exc.start}): save it as UTF-8") from exc
    try:
        parts = [part for document in documents(text) for part in document.items()]
    except yaml.YAMLError as exc:
        raise Misconfigured(f"{path}{describe_error(exc)}") from exc
    if not parts:
        raise Misconfigured(f"{path}: holds no policy: write at least `name: ...`, or take a preset to begin with")
    wrong = [complaint for part in parts if (complaint := problem(path, part))]
    if wrong:
        raise Misconfigured("\n".join(wrong))
    return [written_policies(path, part) for part in parts]


def written_policies(path: Path, part: Document) -> PolicyText:
    policy = msgspec.convert(part.value, Policy)
    return PolicyText(policy, policy.version if "version" in part.value else None, f"{path}:{part.line()}")


def describe_error(exc: yaml.YAMLError) -> str:
    """The line and the reason why a text is not YAML, after the file's name."""
    mark, problem_text = getattr(exc, "problem_mark", None), getattr(exc, "problem", None) or str(exc)
    line = f":{mark.line + 1}" if mark is not None else ""
    return f"{line}: not YAML: {problem_text}: mend the line, or the one before it"


def problem(path: Path, part: Document) -> str | None:
    """One line about an invalid policy: file, line, place, value, and what is expected; None for a valid one."""
    if not isinstance(part.value, dict):
        return f"{path}:{part.line()}: {shown(part.value)} is no policy: write its fields, beginning with `name: ...`"
    try:
        msgspec.convert(part.value, Policy)
    except msgspec.ValidationError as exc:
        message = str(exc)
    else:
        return None
    steps = error_path(message)
    rule = PLACE.sub("", message)
    if unknown := UNKNOWN.search(rule):
        steps = [*steps, unknown[1]]
        rule = f"no such field{suggestion(unknown[1], steps[:-1])}"
        return f"{path}:{part.line(steps)}: {dotted(steps)}: {rule}"
    value = part.at(steps)
    is_whole = isinstance(value, dict)  # then the rule names field and value itself
    said_value = "" if is_whole else f" is {shown(value)}"
    where = dotted(steps)
    return f"{path}:{part.line(steps)}: {where + said_value + ': ' if where else ''}{rule_text(rule, steps)}"


def error_path(message: str) -> list[str | int]:
    """The path from a policy to an error: field names, and list indexes from 0."""
    found = PLACE.search(message)
    steps = STEP.findall(found[1]) if found else []
    return [int(index) if index.isdigit() else (name or index) for name, index in steps]


def dotted(steps: list[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def rule_text(rule: str, steps: list[str | int]) -> str:
    """msgspec's rule in the terms of YAML."""
    if "missing required field" in rule:
        return f"{rule[0].lower()}{rule[1:]}: add it"
    if rule.startswith("Invalid enum value"):
        return f"should be one of {', '.join(choices(steps))}"
    rule = TYPES.sub(lambda found: " or ".join(WORDS.get(word, word) for word in found[1].split(" | ")), rule)
    return f"should be {rule.removeprefix('Expected ')}" if rule.startswith("Expected ") else rule


def choices(steps: list[str | int]) -> list[str]:
    """The enumerated values allowed at a path of a policy."""
    hint: Any = Policy
    for step in steps:
        hint = hint_of(structure(hint), step) if isinstance(step, str) else hint
    return [str(value) for value in literals(hint)]


def literals(hint: Any) -> list[Any]:
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [value for part in get_args(hint) for value in literals(part)]


def suggestion(name: str, steps: list[str | int]) -> str:
    """The closest known field, or all known fields."""
    known = names_at(steps)
    near = get_close_matches(name, known, n=1)
    return f", did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"


def names_at(steps: list[str | int]) -> list[str]:
    """The fields of the object at a path of a policy."""
    hint: Any = Policy
    for step in steps:
        hint = hint_of(structure(hint), step) if isinstance(step, str) else hint
    return [each.encode_name for each in fields(structure(hint))]


def hint_of(shape: Any, name: str) -> Any:
    by_name = {each.encode_name: each.name for each in fields(shape)}
    return get_type_hints(shape)[by_name[name]]


def structure(hint: Any) -> Any:
    """The Struct in a type such as `Schedule | None` or `tuple[Kind | str, ...]`."""
    if get_origin(hint) is None:
        return hint if isinstance(hint, type) and issubclass(hint, Struct) else None
    return next((found for part in get_args(hint) if (found := structure(part)) is not None), None)


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
