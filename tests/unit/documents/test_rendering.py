"""Generated pages have valid links, examples and names."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from agents.api import generate as openapi
from schemas.documents import generate, shapes
from schemas.documents.descriptions import MEANINGS
from schemas.documents.examples import EXAMPLES, example

FILES = generate.files() | openapi.files()
TOPICS = FILES["topics.md"].decode()
API = FILES[openapi.API_PAGE].decode()
DOCUMENT: dict[str, Any] = json.loads(FILES[openapi.OPENAPI])
CHANNELS = json.loads(FILES["asyncapi.json"])
LINK = re.compile(r"\[[^\]]+\]\(([^)]+)\)")


@pytest.mark.parametrize("page", [TOPICS, API], ids=["topics", "api"])
def test_every_link_leads_to_a_heading_or_a_file(page: str):
    headings = [shapes.anchor(line.lstrip("# ")) for line in page.splitlines() if re.match("#+ ", line)]
    assert len(headings) == len(set(headings))
    for target in set(LINK.findall(page)):
        path, _, heading = target.partition("#")
        if path:
            file: Path = generate.TARGET / path
            assert file.exists(), target
            said = file.read_text() if heading else ""
            assert not heading or f"\n## {heading.replace('-', ' ').capitalize()}" in said
        else:
            assert heading in headings, target


@pytest.mark.parametrize("page", [TOPICS, API], ids=["topics", "api"])
def test_every_table_row_has_as_many_cells_as_its_header(page: str):
    cells: int | None = None
    tables = 0
    for line in page.splitlines():
        if not line.startswith("|"):
            cells = None
            continue
        count = len(re.findall(r"(?<!\\)\|", line))
        tables += cells is None
        cells = cells or count
        assert count == cells, line
    assert tables > 20


def test_every_topic_has_a_section_and_every_public_topic_an_example():
    for name in CHANNELS["channels"]:
        assert f"\n### {name}\n" in TOPICS
    outside = {name for name in CHANNELS["channels"] if "Internal topics" not in before(name)}
    assert outside - EXAMPLES.keys() == {"memory.dead-letters"}  # any record


def before(topic: str) -> str:
    return TOPICS.partition(f"\n### {topic}\n")[0]


@pytest.mark.parametrize("topic", EXAMPLES)
def test_an_example_is_valid_by_the_schema_of_its_topic_and_decodes_to_its_struct(topic: str):
    reference = CHANNELS["components"]["messages"][topic]["payload"]["$ref"]
    name = reference.removeprefix("./").removesuffix(".schema.json")
    schema = json.loads(FILES[f"{name}.schema.json"])
    assert [error.message for error in Draft202012Validator(schema).iter_errors(example(topic))] == []
    assert msgspec.convert(example(topic), generate.SHAPES[name]) == EXAMPLES[topic]


def test_every_operation_has_a_section():
    for path, item in DOCUMENT["paths"].items():
        for method in item:
            assert f"\n### {method.upper()} {path}\n" in API


def test_field_descriptions_are_of_existing_fields():
    schemas = [json.loads(each) for name, each in FILES.items() if name.endswith(".schema.json")]
    known = {schema["title"]: schema for schema in schemas}
    known |= {name: each for schema in schemas for name, each in schema.get("$defs", {}).items()}
    for shape, fields in MEANINGS.items():
        assert fields.keys() <= known[shape]["properties"].keys(), shape


@pytest.mark.parametrize(
    ("schema", "description"),
    [
        ({"type": "string", "maxLength": 1000, "minLength": 1}, "string, at most 1,000 characters"),
        ({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}, "integer, ≥ 1"),
        ({"enum": ["a", 1]}, '`"a"`, `1`'),
        ({"type": "array", "items": {"$ref": "#/$defs/Link"}, "maxItems": 64}, "list of [Link](#link), at most 64"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "object of number"),
        ({"type": "string", "format": "date-time"}, "RFC 3339"),
        ({"type": "string", "pattern": "a|b"}, "string, like `a\\|b`"),
        ({}, "anything"),
    ],
)
def test_a_schema_type_is_described_in_few_words(schema: dict[str, Any], description: str):
    assert shapes.kind(schema) == description
