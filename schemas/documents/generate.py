"""Writes what others read: JSON Schemas of everything that travels, the AsyncAPI document of the topics, and a page of both.

`python -m schemas.documents.generate` writes schemas/generated; `--check` writes nothing and says what is out of date.
"""

import argparse
import sys
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec
import orjson

from schemas.conversations.messages import ConversationEnded, Message
from schemas.conversations.window_controls import WindowControl
from schemas.documents import asyncapi, topic_page
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.memories.commands import Command
from schemas.memories.events import ActivityEvent, MemoryEvent
from schemas.memories.memories import Memory
from schemas.policies.policies import Policy

TARGET = Path(__file__).parents[1] / "generated"
OPENAPI, API_PAGE = "openapi.json", "api.md"  # beside these, from the API's routes: agents.api.generate writes them
DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION = (
    "1.0.0"  # of the schemas: minor for what may be added and left out, major for what old readers do not understand
)

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
    "memstream-reason": "a short stable word to filter on: undecodable, invalid, ...",
    "memstream-detail": "one sentence saying what is wrong, and where",
    "memstream-stage": "the stage that gave up: windows, archive, extraction or curation",
    "memstream-topic": "the topic the record came from, with its prefix",
    "memstream-partition": "its partition",
    "memstream-offset": "its offset",
    "memstream-timestamp-ms": "its Kafka timestamp, in milliseconds since 1970",
    "memstream-at": "when it was given up, RFC 3339",
}

DEAD_LETTER_OPTIONS = {
    "memstream-by-reference": "true: the record was too large to be kept, and is only where it came from",
    "memstream-settled": "replayed or discarded: this is no letter, but says what became of one, whose headers it has",
    "memstream-settled-at": "when, RFC 3339",
    "memstream-letter": "the place of that letter in this topic: partition:offset",
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
    """The schema of one shape, whole in itself."""
    (reference,), components = msgspec.json.schema_components([shape], ref_template="#/$defs/{name}")
    own = components.pop(reference["$ref"].rpartition("/")[2])
    parts = {"$defs": dict(sorted(components.items()))} if components else {}
    whole: dict[str, Any] = dedented(own | parts)
    return head(name) | whole


def dedented(part: Any) -> Any:
    """Descriptions are docstrings, which Python 3.13 dedents and older versions do not."""
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
    """Brings the folder up to date; returns the names of the files that changed."""
    changed, wanted = outdated_files(target), files()
    target.mkdir(exist_ok=True)
    for name in changed:
        if name in wanted:
            (target / name).write_bytes(wanted[name])
        else:
            (target / name).unlink()
    return changed


def main(argv: list[str], target: Path = TARGET) -> int:
    """1 when checked files are out of date."""
    parser = argparse.ArgumentParser(prog="python -m schemas.documents.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when something is out of date")
    options = parser.parse_args(argv)
    changed = outdated_files(target) if options.check else write(target)
    for name in changed:
        sys.stdout.write(f"{'out of date, run `make schemas`' if options.check else 'wrote'}: {target.name}/{name}\n")
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
