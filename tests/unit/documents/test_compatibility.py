"""Current schemas are compatible with the published ones; each kind of breaking change is reported with its remedy."""

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from schemas.documents import generate
from tests.unit.documents.compatibility import Comparison, breaking_changes, sides

PUBLISHED = generate.TARGET.with_name("published")
MAJOR = generate.VERSION.split(".")[0]
FROZEN = sorted(folder for folder in PUBLISHED.iterdir() if folder.name.split(".")[0] == MAJOR)
FIRST = PUBLISHED / "1.0.0"

Change = Callable[[Any], object]


def schema(name: str) -> Any:
    return json.loads((FIRST / f"{name}.schema.json").read_text())


def broken(name: str, side: Any, change: Change) -> list[str]:
    old = schema(name)
    new = deepcopy(old)
    change(new)
    assert new != old
    return Comparison(old, new, side).breaks()


def memory_of_event(event: Any) -> Any:
    return event["$defs"]["Memory"]


@pytest.mark.parametrize("frozen", FROZEN, ids=lambda folder: folder.name)
def test_current_schemas_are_compatible_with_the_published_ones(frozen: Path) -> None:
    assert breaking_changes(frozen, generate.TARGET) == []


def test_the_published_schemas_of_this_major_version_are_frozen() -> None:
    assert FROZEN
    assert all((folder / "asyncapi.json").exists() for folder in FROZEN)


def test_every_public_topic_is_compared_in_its_direction() -> None:
    assert sides(json.loads((FIRST / "asyncapi.json").read_text())) == {
        "message.schema.json": "in",
        "conversation-ended.schema.json": "in",
        "command.schema.json": "in",
        "policy.schema.json": "in",
        "memory.schema.json": "out",
        "memory-event.schema.json": "out",
        "activity-event.schema.json": "out",
        "dead-letter-headers.schema.json": "out",
    }


@pytest.mark.parametrize("name", ["memory", "memory-event", "activity-event", "message", "command", "policy"])
def test_a_schema_is_compatible_with_itself(name: str) -> None:
    assert Comparison(schema(name), schema(name), "out").breaks() == []
    assert Comparison(schema(name), schema(name), "in").breaks() == []


BREAKING: dict[str, tuple[Change, str]] = {
    "a field is removed": (lambda memory: memory["properties"].pop("tags"), "Memory.tags is gone"),
    "a field becomes required": (lambda memory: memory["required"].append("language"), "Memory.language is required"),
    "a required field may be left out": (lambda memory: memory["required"].remove("text"), "Memory.text may be left"),
    "a type is narrowed": (
        lambda memory: memory["properties"]["importance"].update(type="integer"),
        "type of Memory.importance was number and is integer",
    ),
    "a type is widened": (
        lambda memory: memory["properties"]["version"].update(type="number"),
        "type of Memory.version was integer and is number",
    ),
    "a null is added": (
        lambda memory: memory["properties"].update(text={"anyOf": [{"type": "string"}, {"type": "null"}]}),
        "Memory.text may be [{'type': 'null'}] now",
    ),
    "a null is taken away": (
        lambda memory: memory["properties"].update(context={"type": "string", "default": None}),
        "type of Memory.context was null and is string",
    ),
    "a default changes": (
        lambda memory: memory["properties"]["pinned"].update(default=True),
        "default of Memory.pinned was False and is True",
    ),
    "a default of something optional changes": (
        lambda memory: memory["properties"]["language"].update(default="en"),
        "default of Memory.language was None and is en",
    ),
    "a range is widened": (
        lambda memory: memory["properties"]["importance"].update(maximum=10.0),
        "maximum of Memory.importance was 1.0 and is 10.0",
    ),
    "a format is dropped": (
        lambda memory: memory["properties"]["created_at"].pop("format"),
        "format of Memory.created_at was date-time and is None",
    ),
    "a value of an open enum is removed": (
        lambda memory: memory["properties"]["status"]["enum"].remove("expired"),
        "Memory.status no longer knows ['expired']",
    ),
    "an enum becomes any text": (
        lambda memory: memory["properties"].update(status={"type": "string"}),
        "the values of Memory.status were",
    ),
    "the items of a list change": (
        lambda memory: memory["properties"]["kinds"]["items"].update(type="integer"),
        "type of Memory.kinds[] was string and is integer",
    ),
    "a field of a part is removed": (
        lambda memory: memory["$defs"]["Source"]["properties"].pop("message_id"),
        "Source.message_id is gone",
    ),
    "the schema is closed": (
        lambda memory: memory.update(additionalProperties=False),
        "Memory.* was True and is False",
    ),
}


@pytest.mark.parametrize("case", BREAKING)
def test_a_breaking_change_for_consumers_of_memory_state_is_detected(case: str) -> None:
    change, said = BREAKING[case]
    assert any(said in found for found in broken("memory", "out", change))


@pytest.mark.parametrize("case", BREAKING)
def test_the_same_breaking_change_inside_a_memory_event_is_detected(case: str) -> None:
    change, said = BREAKING[case]

    def within(event: Any) -> None:
        memory = memory_of_event(event) | {"$defs": event["$defs"]}
        change(memory)
        memory.pop("$defs")
        event["$defs"]["Memory"] = memory

    assert any(said in found for found in broken("memory-event", "out", within))


def test_optional_fields_and_values_of_open_enums_may_be_added() -> None:
    def extended(memory: Any) -> None:
        memory["properties"]["colour"] = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
        memory["properties"]["status"]["enum"].append("archived")

    def extended_event(event: Any) -> None:
        extended(memory_of_event(event))
        event["$defs"]["MemoryChanged"]["properties"]["change"]["enum"].append("translated")

    assert broken("memory", "out", extended) == []
    assert broken("memory-event", "out", extended_event) == []


def test_a_new_value_of_a_closed_enum_is_a_breaking_change() -> None:
    (found,) = broken("memory-event", "out", lambda event: event["properties"]["specversion"]["enum"].append("2.0"))
    assert "MemoryEvent.specversion has new values ['2.0']" in found


def test_descriptions_and_names_of_definitions_may_change() -> None:
    def renamed(memory: Any) -> None:
        memory["description"] = "Otherwise said."
        memory["$defs"]["Origin"] = memory["$defs"].pop("Source")
        memory["properties"]["sources"]["items"]["$ref"] = "#/$defs/Origin"

    assert broken("memory", "out", renamed) == []


GENEROUS: dict[str, Change] = {
    "a longer text": lambda message: message["properties"]["conversation_id"].update(maxLength=1_000),
    "another role": lambda message: message["properties"]["role"]["enum"].append("critic"),
    "an optional field": lambda message: message["properties"].update(mood={"type": "string", "default": ""}),
    "a field that may be left out": lambda message: message["required"].remove("timestamp"),
    "null where text was wanted": lambda message: message["properties"].update(
        message_id={"anyOf": [message["properties"]["message_id"], {"type": "null"}]}
    ),
}
STRICTER: dict[str, tuple[Change, str]] = {
    "a field becomes required": (lambda message: message["required"].append("content"), "Message.content is required"),
    "a role goes": (lambda message: message["properties"]["role"]["enum"].remove("tool"), "no longer knows ['tool']"),
    "a shorter text": (
        lambda message: message["properties"]["conversation_id"].update(maxLength=10),
        "maxLength of Message.conversation_id was 256 and is 10",
    ),
    "a bound where there was none": (
        lambda message: message["properties"]["timestamp"].update(pattern="Z$"),
        "pattern of Message.timestamp was None and is Z$",
    ),
    "a field that is no longer read": (
        lambda message: message["properties"].pop("tool_calls"),
        "Message.tool_calls is gone",
    ),
    "the schema is closed": (lambda message: message.update(additionalProperties=False), "Message.* was True"),
}


@pytest.mark.parametrize("case", GENEROUS)
def test_an_input_schema_may_become_more_permissive(case: str) -> None:
    assert broken("message", "in", GENEROUS[case]) == []


@pytest.mark.parametrize("case", STRICTER)
def test_a_breaking_change_for_existing_producers_is_detected(case: str) -> None:
    change, said = STRICTER[case]
    assert any(said in found for found in broken("message", "in", change))


def with_changed(directory: Path, name: str, change: Change) -> Path:
    """A copy of the frozen folder with one file changed."""
    folder = directory / "now"
    shutil.copytree(FIRST, folder)
    document = json.loads((folder / name).read_text())
    change(document)
    (folder / name).write_text(json.dumps(document))
    return folder


def test_a_breaking_change_is_reported_with_a_remedy(tmp_path: Path) -> None:
    now = with_changed(tmp_path, "memory.schema.json", lambda memory: memory["properties"].pop("tags"))
    (said,) = breaking_changes(FIRST, now)
    assert said.startswith("Memory.tags is gone: keep it as it was and add an optional field beside it")
    assert "another topic" in said


def test_a_removed_schema_is_a_breaking_change(tmp_path: Path) -> None:
    folder = shutil.copytree(FIRST, tmp_path / "now")
    (folder / "memory.schema.json").unlink()
    (said,) = breaking_changes(FIRST, folder)
    assert said.startswith("memory.schema.json is gone")


TOPICS: dict[str, tuple[Change, str]] = {
    "a topic vanishes": (
        lambda document: document["components"]["messages"].pop("memory.state"),
        "the topic memory.state is no longer public",
    ),
    "a topic becomes memstream's own": (
        lambda document: document["operations"].update({"receive-memory.state": {}}),
        "the topic memory.state is no longer public",
    ),
    "another key": (
        lambda document: document["components"]["messages"]["memory.state"]["bindings"]["kafka"]["key"].update(
            description="namespace"
        ),
        "the bindings of the topic memory.state",
    ),
    "another payload": (
        lambda document: document["components"]["messages"]["memory.state"].update(
            payload={"$ref": "./memory-event.schema.json"}
        ),
        "the payload of the topic memory.state",
    ),
}


@pytest.mark.parametrize("case", TOPICS)
def test_a_breaking_change_of_a_topic_is_detected(tmp_path: Path, case: str) -> None:
    change, said = TOPICS[case]
    found = breaking_changes(FIRST, with_changed(tmp_path, "asyncapi.json", change))
    assert found
    assert all(each.startswith(said) for each in found)


def test_internal_topics_may_change_incompatibly(tmp_path: Path) -> None:
    now = with_changed(
        tmp_path, "asyncapi.json", lambda document: document["components"]["messages"].pop("memory.candidates")
    )
    assert breaking_changes(FIRST, now) == []
