"""Generates the JSON Schemas of all records, the AsyncAPI document of the topics, and a page of both.

`python -m schemas.documents.generate` writes schemas/generated; `--check` writes nothing and lists outdated files.
"""

import argparse
import sys
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec
import orjson

from schemas.conversations.messages import ConversationEnded, Message
from schemas.documents import asyncapi, topic_page
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.commands import Command
from schemas.memories.events import ActivityEvent, MemoryEvent
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy
from schemas.windows.window_controls import WindowControl

TARGET = Path(__file__).parents[1] / "generated"
OPENAPI, API_PAGE = "openapi.json", "api.md"  # written by agents.api.generate, from the routes of the API
DIALECT = "https://json-schema.org/draft/2020-12/schema"
# of the schemas: minor for optional additions, major for changes that existing consumers do not understand
VERSION = "1.0.0"

SHAPES: dict[str, type[msgspec.Struct]] = {
    "message": Message,
    "conversation-ended": ConversationEnded,
    "command": Command,
    "policy": Policy,
    "memory": Memory,
    "memory-event": MemoryEvent,
    "activity-event": ActivityEvent,
    "extraction-request": ExtractionRequest,
    "candidate-batch": CandidateBatch,
    "window-control": WindowControl,
}

# Header values are UTF-8 text, numbers in decimal.
DEAD_LETTER_HEADERS = {
    "memstream-reason": "short stable word for filters: undecodable, invalid, ...",
    "memstream-detail": "one sentence with the error and its place",
    "memstream-stage": "who rejected the record: windows, archive, passages, extraction, curation, policies or outbox",
    "memstream-topic": "source topic, with its prefix; of a letter without a source record its destination: a topic, or vectors",
    "memstream-partition": "source partition; -1 without a source record, as of what the outbox or the index of vectors refused",
    "memstream-offset": "source offset; -1 without a source record",
    "memstream-timestamp-ms": "Kafka timestamp of the record, in milliseconds since 1970; -1 without one",
    "memstream-at": "time of the failure, RFC 3339",
}

DEAD_LETTER_OPTIONS = {
    "memstream-by-reference": "true: the record was too large to copy and is only in its source topic",
    "memstream-settled": "replayed or discarded: this record is the outcome of a dead letter, with that letter's headers",
    "memstream-settled-at": "time of the outcome, RFC 3339",
    "memstream-letter": "place of that dead letter in this topic: partition:offset",
}


def files() -> dict[str, bytes]:
    """The content of every generated file, by name."""
    documents = {f"{name}.schema.json": schema(name, shape) for name, shape in SHAPES.items()}
    documents["dead-letter-headers.schema.json"] = dead_letter_headers()
    documents["asyncapi.json"] = asyncapi.document(VERSION)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    written = {name: orjson.dumps(document, option=options) for name, document in documents.items()}
    return written | {"topics.md": topic_page.page(documents["asyncapi.json"], documents).encode()}


def schema(name: str, shape: type[msgspec.Struct]) -> dict[str, Any]:
    """The self-contained JSON Schema of a shape."""
    (reference,), components = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    own = components.pop(reference["$ref"].rpartition("/")[2])
    parts = {"$defs": dict(sorted(components.items()))} if components else {}
    whole: dict[str, Any] = dedented(own | parts)
    return head(name) | whole


def dedented(part: Any) -> Any:
    """Dedents descriptions, which are docstrings: Python 3.13 does so itself, older versions do not."""
    if isinstance(part, list):
        return [dedented(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        name: cleandoc(value) if name == "description" and isinstance(value, str) else dedented(value)
        for name, value in part.items()
    }


def dead_letter_headers() -> dict[str, Any]:
    return head("dead-letter-headers") | {
        "title": "DeadLetterHeaders",
        "description": "The headers that memstream adds to a dead letter; those of the original record stay beside them.",
        "type": "object",
        "properties": {
            name: {"type": "string", "description": said}
            for name, said in (DEAD_LETTER_HEADERS | DEAD_LETTER_OPTIONS).items()
        },
        "required": list(DEAD_LETTER_HEADERS),
    }


def head(name: str) -> dict[str, Any]:
    return {"$schema": DIALECT, "$id": f"urn:memstream:schema:{name}"}


def outdated_files(target: Path) -> list[str]:
    """Names of files that are missing, differ, or are no longer generated."""
    wanted = files()
    theirs = (OPENAPI, API_PAGE)
    paths = [path for path in target.iterdir() if path.name not in theirs] if target.exists() else []
    found = {path.name: path.read_bytes() for path in paths}
    return sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))


def write(target: Path) -> list[str]:
    """Updates the folder; returns the names of changed files."""
    changed, wanted = outdated_files(target), files()
    target.mkdir(exist_ok=True)
    for name in changed:
        if name in wanted:
            (target / name).write_bytes(wanted[name])
        else:
            (target / name).unlink()
    return changed


def main(argv: list[str], target: Path = TARGET) -> int:
    """Returns 1 if checked files are outdated."""
    parser = argparse.ArgumentParser(prog="python -m schemas.documents.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when something is out of date")
    options = parser.parse_args(argv)
    changed = outdated_files(target) if options.check else write(target)
    for name in changed:
        sys.stdout.write(f"{'out of date, run `make schemas`' if options.check else 'wrote'}: {target.name}/{name}\n")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
