"""Answers of local model servers: the findings of the offline rules, parsed from the prompt, in the requested JSON Schema."""

import json
import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from agents.models.offline.excerpt import best_sentences, scored_sentences
from agents.models.offline.findings import findings
from agents.models.offline.rules.engine.rule_engine import Finding
from agents.models.offline.rules.findings.relations import relate
from agents.models.offline.rules.importance.compaction import decide_by_rules
from agents.models.offline.rules.importance.condensing import short_text_by_rules
from agents.models.offline.rules.importance.rating import rating_by_rules
from agents.models.port import MemoryToRate
from schemas.extraction.requests import SliceMessage
from schemas.memories.memories import Memory

CHARS_PER_TOKEN = 4
SUMMARY_TOKENS = 100
TEXT_CHARS = 200
SAID = re.compile(r"(\d+ \w+(?: \d\d:\d\d)?)(?: calls \[.*?\])? (\".*\")$")


def tokens(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


def answer_for(prompt: str, schema: dict[str, Any]) -> Any:
    """The answer for a schema that memstream uses; for others, the smallest value that the schema allows."""
    wanted = schema.get("properties", {})
    if "summary" in wanted and "<transcript>" in prompt:
        return {"summary": summary_text(prompt)}
    if "memories" in wanted and "<transcript>" in prompt:
        return {"memories": by_rules(prompt)}
    if "absorbs" in wanted and "<memories>" in prompt:
        return msgspec.to_builtins(
            decide_by_rules([remembered(line) for line in fenced(prompt, "memories")], TEXT_CHARS)
        )
    if "points" in wanted and "<memory>" in prompt:
        (line,) = fenced(prompt, "memory")
        return msgspec.to_builtins(rating_by_rules(msgspec.convert(line, MemoryToRate)))
    if "short" in wanted and "<full>" in prompt:
        (line,) = fenced(prompt, "full")
        return {"short": short_text_by_rules(line["text"], TEXT_CHARS, False, tokens)}
    return least(schema)


def least(schema: dict[str, Any]) -> Any:
    """The smallest value of a schema: required fields only, empty lists, the first alternative."""
    for keyword in ("const", "enum", "anyOf"):
        if keyword in schema:
            first = schema[keyword] if keyword == "const" else schema[keyword][0]
            return least(first) if keyword == "anyOf" else first
    kind = schema.get("type", "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: least(schema["properties"][name]) for name in schema.get("required", ())}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False, "null": None}[kind]


def summary_text(prompt: str) -> str:
    """The earlier summary, with the offline provider's summary of the transcript."""
    said = tuple(transcript_messages(prompt))
    (earlier,) = fenced(prompt, "earlier")
    latest = " ".join(best_sentences(list(scored_sentences(said)), SUMMARY_TOKENS, tokens))
    return f"{earlier} {latest}".strip()


def by_rules(prompt: str) -> list[dict[str, Any]]:
    """The findings of the offline rules in the prompt's transcript, in the requested form."""
    known = [known_memory(line) for line in inside(prompt, "memories")]
    said = transcript_messages(prompt)
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
        | applicable_fields(finding, known)
        for number, message in enumerate(said, 1)
        for language, finding in findings(message)
    ]


def applicable_fields(finding: Finding, known: list[Memory]) -> dict[str, Any]:
    """Leaves out fields that a model omits if they do not apply."""
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
    return [line for line in between.split("\n") if line]  # a JSON string may contain other line breaks


def known_memory(line: str) -> Memory:
    """Parses a line `1 "text"`, in a group `1 user2 "text"`."""
    head, _, text = line.partition(' "')
    return remembered({"id": head.split()[0], "kind": "fact", "text": json.loads(f'"{text}')})


def transcript_messages(prompt: str) -> list[SliceMessage]:
    """The messages of the transcripts in the prompt, by conversation."""
    transcripts = (each.split("</transcript>")[0] for each in prompt.split("<transcript>\n")[1:])
    day, time, found = "", "00:00", list[SliceMessage]()
    for line in "".join(transcripts).split("\n"):
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
