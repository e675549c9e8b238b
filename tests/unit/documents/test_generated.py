"""Generated files are up to date, and their references resolve."""

import copy
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from agents.dead_letters.writer import dead_letter
from schemas.documents import asyncapi, generate
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.dead_letters import PREFIX
from streams.kafka.topics import TopicSettings, specs

DOCUMENT = asyncapi.document("1.0.0")
FILES = generate.files()


def every(part, key):
    if isinstance(part, dict):
        for name, value in part.items():
            if name == key:
                yield value
            else:
                yield from every(value, key)
    elif isinstance(part, list):
        for item in part:
            yield from every(item, key)


def test_generated_files_are_up_to_date():
    assert generate.outdated_files(generate.TARGET) == [], "run `make schemas`"


def test_changed_missing_and_superfluous_generated_files_are_detected_and_repaired(tmp_path: Path):
    generate.write(tmp_path)
    (tmp_path / "message.schema.json").write_text("{}")
    (tmp_path / "policy.schema.json").unlink()
    (tmp_path / "gone.schema.json").write_text("{}")
    wrong = ["gone.schema.json", "message.schema.json", "policy.schema.json"]
    assert generate.outdated_files(tmp_path) == wrong
    assert generate.main(["--check"], tmp_path) == 1
    assert generate.write(tmp_path) == wrong
    assert generate.main(["--check"], tmp_path) == 0


@pytest.mark.parametrize("name", sorted(generate.SHAPES))
def test_every_reference_in_a_schema_leads_to_a_definition(name):
    schema = json.loads(FILES[f"{name}.schema.json"])
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for reference in every(schema, "$ref"):
        assert reference.removeprefix("#/$defs/") in schema["$defs"]


def test_the_message_schema_has_the_required_fields_and_constraints_of_the_struct():
    schema = json.loads(FILES["message.schema.json"])
    assert sorted(schema["required"]) == ["conversation_id", "message_id", "role", "timestamp"]
    assert schema["properties"]["role"]["enum"] == ["assistant", "system", "tool", "user"]
    assert schema["properties"]["conversation_id"] == {"type": "string", "minLength": 1, "maxLength": 256}


def test_a_dead_letter_has_exactly_the_documented_headers():
    class Record:
        topic, partition, offset, timestamp, key, value, headers = "chat.messages", 1, 2, 3, b"k", b"v", ()

    letter = dead_letter(Record, "windows", Rejected("invalid", "why"), datetime(2026, 3, 1, tzinfo=UTC))
    assert [name for name, _ in letter.headers if name.startswith(PREFIX)] == list(generate.DEAD_LETTER_HEADERS)


def test_asyncapi_lists_every_topic_that_is_created():
    declared = {value for name, value in vars(topics).items() if name.isupper() and isinstance(value, str)}
    created = {spec.name for spec in specs(TopicSettings())} - {TopicSettings().changelog}
    assert set(DOCUMENT["channels"]) == declared == created


def test_asyncapi_has_the_structure_of_version_3():
    assert DOCUMENT["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= DOCUMENT["info"].keys()
    for name, channel in DOCUMENT["channels"].items():
        assert channel["address"] == name
        assert list(channel["messages"]) == ["record"]
    for operation in DOCUMENT["operations"].values():
        assert operation["action"] in ("send", "receive")
        assert operation["messages"] == [{"$ref": operation["channel"]["$ref"] + "/messages/record"}]
    for message in DOCUMENT["components"]["messages"].values():
        assert message["bindings"]["kafka"]["key"]["description"]


def test_every_asyncapi_channel_has_an_operation():
    used = {operation["channel"]["$ref"].removeprefix("#/channels/") for operation in DOCUMENT["operations"].values()}
    assert used == set(DOCUMENT["channels"])


def test_every_reference_in_asyncapi_leads_to_a_part_or_to_a_generated_file():
    for reference in every(DOCUMENT, "$ref"):
        if reference.startswith("./"):
            assert reference.removeprefix("./") in FILES
            continue
        part = DOCUMENT
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]
        assert part


def asyncapi_complaints(document) -> list[str]:
    validator = Draft7Validator(json.loads((Path(__file__).parent / "asyncapi-3.0.0.json").read_text()))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def test_the_asyncapi_document_is_valid_by_the_official_schema():
    assert asyncapi_complaints(DOCUMENT) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.pop("info"),
        lambda document: document["channels"]["chat.messages"].update(adress="x"),
        lambda document: document["operations"]["receive-chat.messages"].update(action="read"),
        lambda document: document["channels"]["chat.messages"]["bindings"]["kafka"].update(
            topicConfiguration={"retention.ms": "a month"}
        ),
        lambda document: document["components"]["messages"]["chat.messages"]["bindings"]["kafka"].update(kee="x"),
    ],
)
def test_an_invalid_asyncapi_document_is_detected(spoil):
    document = copy.deepcopy(DOCUMENT)
    spoil(document)
    assert asyncapi_complaints(document) != []
