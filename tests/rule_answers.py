"""What the model behind a local server says: the offline rules' findings, read from the prompt as a model reads it, in the
shape of the JSON Schema that was asked for."""

import json
import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from agents.models.offline.excerpt import most_telling, tellings
from agents.models.offline.provider import findings
from agents.models.offline.rules.condensing import condensed
from agents.models.offline.rules.keeping import decide
from agents.models.offline.rules.rating import rated
from agents.models.offline.rules.reading import Finding
from agents.models.offline.rules.relations import relate
from agents.models.port import Subject
from schemas.extraction.requests import SliceMessage
from schemas.memories.memories import Memory

CHARS_PER_TOKEN = 4
SUMMARY_TOKENS = 100
TEXT_CHARS = 200
SAID = re.compile(r"(\d+ \w+(?: \d\d:\d\d)?)(?: calls \[.*?\])? (\".*\")$")


def tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def answered(prompt: str, schema: dict[str, Any]) -> Any:
    """What the schema asks for, of the purposes that memstream has, else the least that the schema allows."""
    wanted = schema.get("properties", {})
    if "summary" in wanted and "<transcript>" in prompt:
        return {"summary": summed_up(prompt)}
    if "memories" in wanted and "<transcript>" in prompt:
        return {"memories": by_rules(prompt)}
    if "absorbs" in wanted and "<memories>" in prompt:
        return msgspec.to_builtins(decide([remembered(line) for line in fenced(prompt, "memories")], TEXT_CHARS))
    if "points" in wanted and "<memory>" in prompt:
        (line,) = fenced(prompt, "memory")
        return msgspec.to_builtins(rated(msgspec.convert(line, Subject)))
    if "short" in wanted and "<full>" in prompt:
        (line,) = fenced(prompt, "full")
        return {"short": condensed(line["text"], TEXT_CHARS, False, tokens)}
    return least(schema)


def least(schema: dict[str, Any]) -> Any:
    """The least value of a schema: required fields only, lists without items, the first of several."""
    for keyword in ("const", "enum", "anyOf"):
        if keyword in schema:
            first = schema[keyword] if keyword == "const" else schema[keyword][0]
            return least(first) if keyword == "anyOf" else first
    kind = schema.get("type", "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: least(schema["properties"][name]) for name in schema.get("required", ())}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False, "null": None}[kind]


def summed_up(prompt: str) -> str:
    """What was said before, and what the offline provider would tell of the transcript."""
    said = tuple(spoken(prompt))
    (earlier,) = fenced(prompt, "earlier")
    latest = " ".join(most_telling(list(tellings(said)), SUMMARY_TOKENS, tokens))
    return f"{earlier} {latest}".strip()


def by_rules(prompt: str) -> list[dict[str, Any]]:
    """What the offline rules find in the prompt's transcript, in the shape that the prompt asks for."""
    known = [known_memory(line) for line in inside(prompt, "memories")]
    said = spoken(prompt)
    return [
        {
            "kind": finding.kind,
            "text": finding.text,
            "messages": [number],
            "confidence": finding.confidence,
            "importance": finding.importance,
            "tags": list(finding.tags),
            "language": language,
        }
        | applying(finding, known)
        for number, message in enumerate(said, 1)
        for language, finding in findings(message)
    ]


def applying(finding: Finding, known: list[Memory]) -> dict[str, Any]:
    """The fields that a model leaves out where they do not apply."""
    relation = relate(finding, known)
    fields = {
        **{
            name: moment.isoformat()
            for name in ("event_time", "valid_from", "valid_until")
            if (moment := getattr(finding, name)) is not None
        },
        "repeats": None if relation.repeats is None else relation.repeats + 1,
        "supersedes": None if relation.contradicts is None else [relation.contradicts + 1],
    }
    return {name: value for name, value in fields.items() if value is not None}


def fenced(prompt: str, name: str) -> list[Any]:
    return [json.loads(line) for line in inside(prompt, name)]


def inside(prompt: str, name: str) -> list[str]:
    if f"<{name}>\n" not in prompt:
        return []
    between = prompt.split(f"<{name}>\n")[1].split(f"</{name}>")[0]
    return [line for line in between.split("\n") if line]  # a JSON string may hold other line breaks


def known_memory(line: str) -> Memory:
    """Of a line `1 "text"`, in a group `1 user2 "text"`."""
    head, _, text = line.partition(' "')
    return remembered({"id": head.split()[0], "kind": "fact", "text": json.loads(f'"{text}')})


def spoken(prompt: str) -> list[SliceMessage]:
    """The messages of the prompt's transcript, read from its lines."""
    inside = prompt.split("<transcript>\n")[1].split("</transcript>")[0]
    day, time, found = "", "00:00", list[SliceMessage]()
    for line in inside.split("\n"):
        if line.startswith("day "):
            day = line
        elif line:
            found.append(message(line, day, time))
            time = f"{found[-1].timestamp:%H:%M}"
    return found


def message(line: str, day: str, time: str) -> SliceMessage:
    _, date, _, _, zone, *_ = day.split()
    matched = SAID.match(line)
    assert matched, f"no line of a transcript: {line!r}"
    head, text = matched.groups()
    number, role, *rest = head.split()
    at = f"{date}T{rest[0] if rest else time}"
    return SliceMessage(
        message_id=number,
        role=role.rstrip("0123456789"),  # user1 and user2, where several speak
        timestamp=datetime.fromisoformat(at).replace(tzinfo=ZoneInfo(zone)),
        content=json.loads(text),
        position=int(number),
        time_zone=zone,
    )


def remembered(line: dict[str, Any]) -> Memory:
    moment = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    return Memory(
        memory_id=str(line["id"]),
        namespace="",
        kind=line["kind"],
        text=line["text"],
        importance=line.get("importance", 0.5),
        confidence=0.5,
        version=1,
        sequence=1,
        status="active",
        created_at=moment,
        updated_at=moment,
        created_by="",
    )
