"""The messages of the samples, and the memories expected of them."""

import json
from pathlib import Path
from typing import Any

from schemas.kafka import topics
from tests.deployment import Event
from tests.deployment_data import Snapshot

SAMPLES = Path(__file__).parents[4] / "deploy" / "samples"

EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((SAMPLES / "expected.json").read_text())

POLICIES = {each["name"]: each for each in json.loads((SAMPLES / "policies.json").read_text())}

NOTHING = [name for name, items in EXPECTED.items() if not items]

SECRETS = ("sk-live-EXAMPLE0000notarealkey0000EXAMPLE", "EXAMPLE-not-real-42")


def valid_messages(published: list[Event]) -> dict[tuple[str, str], dict[str, Any]]:
    """Returns the valid messages by conversation and message id, as first published."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for event in published:
        if event.topic == topics.MESSAGES and isinstance(event.value, dict) and "role" in event.value:
            found.setdefault((event.key, event.value["message_id"]), event.value)
    return found


def malformed(published: list[Event]) -> list[Event]:
    known = valid_messages(published)
    return [
        event
        for event in published
        if event.topic == topics.MESSAGES
        and not (isinstance(event.value, dict) and (event.key, event.value["message_id"]) in known)
    ]


def namespaces(conversation_id: str, published: list[Event]) -> list[str]:
    """Returns the namespaces of a conversation by deploy/samples/policies.json."""
    said = next(each for (name, _), each in valid_messages(published).items() if name == conversation_id)
    own = f"{said['app_id']}/{said['user_id']}"
    return [own, said["app_id"]] if said["app_id"] == "support" else [own]


def sources(memory: dict[str, Any]) -> list[str]:
    return [source["message_id"] for source in memory["sources"]]


def of_text(memories: list[dict[str, Any]], text: str) -> dict[str, Any]:
    (found,) = [memory for memory in memories if memory["text"] == text]
    return found


def slices(snapshot: Snapshot, conversation_id: str) -> list[tuple[int, int]]:
    rows = [row for row in snapshot.rows["extractions"] if row["conversation_id"] == conversation_id]
    return sorted((row["first_position"], row["last_position"]) for row in rows)


def positions(snapshot: Snapshot, conversation_id: str) -> dict[str, int]:
    """Offsets of a conversation's messages as they lie in Kafka, by message id, each as first published."""
    found: dict[str, int] = {}
    for record in snapshot.records[topics.MESSAGES]:
        if record.key == conversation_id.encode() and b'"role"' in record.value:
            found.setdefault(json.loads(record.value)["message_id"], record.offset)
    return found
