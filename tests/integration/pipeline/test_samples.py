"""The whole path for the sample conversations, read back by plain clients: published once, and then all of them again."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from schemas import topics
from tests.deployment import MEMORY, Event, Snapshot
from tests.json_schema import complaints

SAMPLES = Path(__file__).parents[3] / "deploy" / "samples"
EXPECTED: dict[str, list[dict[str, Any]]] = json.loads((SAMPLES / "expected.json").read_text())
POLICIES = {each["name"]: each for each in json.loads((SAMPLES / "policies.json").read_text())}
NOTHING = [name for name, items in EXPECTED.items() if not items]
SECRETS = ("sk-live-EXAMPLE0000notarealkey0000EXAMPLE", "EXAMPLE-not-real-42")


@pytest.fixture
def once(samples: Any) -> Snapshot:
    return samples.once


@pytest.fixture
def published(samples: Any) -> list[Event]:
    return samples.published


def valid_messages(published: list[Event]) -> dict[tuple[str, str], dict[str, Any]]:
    """By conversation and message id, as first published."""
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
    """As deploy/samples/policies.json derives them."""
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


def test_every_valid_message_is_archived_once_where_it_lies_in_kafka(once: Snapshot, published: list[Event]):
    sent = valid_messages(published)
    archived = {(row["conversation_id"], row["message_id"]): row for row in once.rows["messages"]}
    assert archived.keys() == sent.keys()
    assert len(once.rows["messages"]) == len(sent)
    records = {(record.partition, record.offset): record for record in once.records[topics.MESSAGES]}
    for name, row in archived.items():
        assert row["content"] == sent[name]["content"]
        assert json.loads(records[row["partition"], row["position"]].value)["message_id"] == row["message_id"]


def expected_memories(published: list[Event]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(namespace, item) of every item that makes a memory of its own; one that repeats another reinforces it."""
    for conversation_id, items in EXPECTED.items():
        for namespace in namespaces(conversation_id, published):
            yield from ((namespace, item) for item in items if "repeats" not in item)


def test_what_is_remembered_is_what_is_expected_in_every_namespace_and_nothing_else(
    once: Snapshot, published: list[Event]
):
    wanted = Counter((namespace, item["kind"], item["text"]) for namespace, item in expected_memories(published))
    made = [row["after"] for row in once.rows["memory_versions"] if row["change"] == "created"]
    found = Counter((row["namespace"], row["kind"], row["text"]) for row in made)
    assert found == wanted
    assert {"support", "support/eva", "notes/tom"} <= {namespace for namespace, _, _ in found}
    for namespace, item in expected_memories(published):
        memory = of_text([each for each in made if each["namespace"] == namespace], item["text"])
        assert set(item["message_ids"]) <= set(sources(memory))
        if "event_time" in item:
            assert datetime.fromisoformat(memory["event_time"]) == datetime.fromisoformat(item["event_time"])


def test_a_namespace_with_one_memory_too_many_is_compacted_with_a_reason(once: Snapshot):
    live = [row for row in once.rows["memories"] if row["namespace"] == "support" and row["status"] == "active"]
    assert len(live) == POLICIES["support"]["max_memories"]
    compacted = [row for row in once.rows["memory_versions"] if row["change"] == "compacted"]
    assert {row["namespace"] for row in compacted} == {"support"}
    assert all(row["cause"]["reason"] for row in compacted)
    told = [event for event in once.values(topics.EVENTS) if event["type"] == "memstream.memory.compacted"]
    assert len(told) == len(compacted)


@pytest.mark.parametrize("conversation_id", NOTHING)
def test_nothing_comes_of_small_talk_instructions_and_quotations(conversation_id: str, once: Snapshot):
    completed = [row for row in once.rows["extractions"] if row["conversation_id"] == conversation_id]
    assert [row["completed_at"] is not None for row in completed] == [True]
    heard = [source["conversation_id"] for memory in once.rows["memories"] for source in memory["sources"]]
    assert conversation_id not in heard


@pytest.mark.parametrize("table", ["memories", "memory_versions", "outbox", "extractions", "extraction_parts"])
def test_no_pasted_secret_is_stored_beside_the_archive(table: str, once: Snapshot):
    stored = json.dumps(once.rows[table], default=str)
    assert [secret for secret in SECRETS if secret in stored] == []


# Requests are memstream's internal copy of chat.messages, and as sensitive; the providers scrub what they read.
@pytest.mark.parametrize("topic", [name for name in MEMORY if name != topics.REQUESTS])
def test_no_pasted_secret_is_published(topic: str, once: Snapshot):
    said = b"\n".join(record.value or b"" for record in once.records[topic])
    assert [secret for secret in SECRETS if secret.encode() in said] == []


def test_no_pasted_secret_is_in_qdrant_or_in_a_log(once: Snapshot, samples: Any):
    said = json.dumps([payload for payload, _ in once.points.values()]) + samples.deployment.logs()
    assert [secret for secret in SECRETS if secret in said] == []


@pytest.mark.parametrize(
    ("namespace", "old", "new", "message_id"),
    [
        (
            "notes/mara",
            "User prefers dark mode in every editor.",
            "User switched from dark mode to light mode, their eyes get tired otherwise.",
            "notes-mara-light-01",
        ),
        (
            "notes/lena",
            "Der Nutzer trinkt morgens viel Kaffee.",
            "Der Nutzer ist von Kaffee auf Tee umgestiegen.",
            "notes-lena-tee-01",
        ),
    ],
)
def test_a_preference_that_changed_is_superseded_and_keeps_the_interval_in_which_it_held(
    namespace: str, old: str, new: str, message_id: str, once: Snapshot, published: list[Event]
):
    before, after = (of_text(once.memories(namespace), text) for text in (old, new))
    said_at = datetime.fromisoformat(valid_messages(published)[message_id[:-3], message_id]["timestamp"])
    assert (before["status"], after["status"]) == ("superseded", "active")
    assert (before["superseded_by"], after["supersedes"]) == (after["memory_id"], before["memory_id"])
    assert before["valid_from"] < before["valid_until"] == after["valid_from"] == said_at
    assert after["valid_until"] is None
    changes = [row["change"] for row in once.rows["memory_versions"] if row["memory_id"] == before["memory_id"]]
    assert changes == ["created", "superseded"]


def test_a_fact_said_again_in_other_words_is_reinforced_and_names_both_messages(once: Snapshot):
    memory = of_text(once.memories("notes/tom"), "User is allergic to peanuts.")
    assert memory["reinforcement_count"] == 1
    assert sources(memory) == ["notes-tom-travel-05", "notes-tom-dinner-01"]
    reinforced = [row for row in once.rows["memory_versions"] if row["change"] == "reinforced"]
    assert [row["memory_id"] for row in reinforced] == [memory["memory_id"]]


def test_a_message_arriving_after_the_end_event_is_extracted_in_a_slice_of_its_own(once: Snapshot):
    at = positions(once, "support-priya-late")
    late = at.pop("support-priya-late-05")
    assert slices(once, "support-priya-late") == [(min(at.values()), max(at.values())), (late, late)]


def test_an_end_event_before_its_last_messages_waits_for_them(once: Snapshot):
    at = positions(once, "notes-tom-race")
    assert slices(once, "notes-tom-race") == [(min(at.values()), max(at.values()))]


def test_every_other_conversation_is_one_slice_that_is_completed(once: Snapshot):
    for conversation_id in EXPECTED.keys() - {"support-priya-late"}:
        at = positions(once, conversation_id)
        ((first, last),) = slices(once, conversation_id)
        assert (first, last) == (min(at.values()), max(at.values())), conversation_id
    assert all(row["completed_at"] and row["answer"] and not row["failed_at"] for row in once.rows["extractions"])


def test_malformed_events_are_dead_letters_with_reason_position_and_what_they_were(
    once: Snapshot, published: list[Event], samples: Any
):
    letters = once.records[topics.DEAD_LETTERS]
    wanted = malformed(published)
    assert len(letters) == len(wanted) == 2
    by_value = {event.bytes: event for event in wanted}
    for letter in letters:
        event = by_value[letter.value]
        told = {name.removeprefix("memstream-"): value.decode() for name, value in letter.headers}
        assert complaints({name: value.decode() for name, value in letter.headers}, "dead-letter-headers") == []
        assert told["reason"] == ("undecodable" if letter.value == b"{not json" else "invalid")
        assert (told["stage"], told["topic"]) == ("windows", samples.deployment.topic(topics.MESSAGES))
        (source,) = [
            record
            for record in once.records[topics.MESSAGES]
            if (record.partition, record.offset) == (int(told["partition"]), int(told["offset"]))
        ]
        assert (source.value, source.key) == (letter.value, letter.key) == (event.bytes, event.key.encode())
        assert int(told["timestamp-ms"]) == source.timestamp
        assert set(source.headers) == set(event.headers) <= set(letter.headers)
        assert "role" in told["detail"] if told["reason"] == "invalid" else "JSON" in told["detail"]


@pytest.mark.parametrize(("topic", "schema"), [(topics.EVENTS, "memory-event"), (topics.ACTIVITY, "activity-event")])
def test_events_are_structured_cloud_events_with_ids_of_their_own(topic: str, schema: str, once: Snapshot):
    records = once.records[topic]
    assert records
    for record in records:
        event = json.loads(record.value)
        assert complaints(event, schema) == []
        assert event["specversion"] == "1.0"
        assert all(isinstance(event[name], str) and event[name] for name in ("id", "source", "type", "subject"))
        assert event["type"].startswith("memstream.")
        assert event["datacontenttype"] == "application/json"
        assert datetime.fromisoformat(event["time"]).tzinfo is not None
        assert dict(record.headers)["content-type"] == b"application/cloudevents+json"
    identified = [event["id"] for event in once.values(topic)]
    assert len(identified) == len(set(identified))


def test_events_of_a_namespace_are_in_one_partition_in_a_sequence_without_gaps(once: Snapshot):
    sequences: dict[str, list[int]] = defaultdict(list)
    partitions: dict[str, set[int]] = defaultdict(set)
    for record in once.records[topics.EVENTS]:
        data = json.loads(record.value)["data"]
        assert record.key == data["namespace"].encode()
        sequences[data["namespace"]].append(data["sequence"])
        partitions[data["namespace"]].add(record.partition)
    counters = {row["namespace"]: row["sequence"] for row in once.rows["namespaces"] if row["sequence"]}
    assert sequences == {name: list(range(1, last + 1)) for name, last in counters.items()}
    assert all(len(found) == 1 for found in partitions.values())


def test_every_change_is_a_version_and_an_event_that_say_the_same(once: Snapshot):
    versions = {(row["memory_id"], row["version"]): row for row in once.rows["memory_versions"]}
    events = {(e["subject"], e["data"]["memory"]["version"]): e for e in once.values(topics.EVENTS)}
    assert versions.keys() == events.keys()
    for name, row in versions.items():
        event = events[name]
        assert event["type"] == f"memstream.memory.{row['change']}"
        assert event["data"]["memory"] == row["after"]
        assert event["data"]["cause"] == row["cause"]


def test_the_compacted_state_says_of_every_memory_what_postgres_says(once: Snapshot):
    states = {record.key.decode(): record.value for record in once.records[topics.STATE]}
    latest = {memory_id: json.loads(value) for memory_id, value in states.items() if value is not None}
    rows = {row["memory_id"]: row for row in once.rows["memories"]}
    assert states.keys() == rows.keys()
    assert latest.keys() == {memory_id for memory_id, row in rows.items() if row["status"] != "deleted"}
    for memory_id, told in latest.items():
        assert complaints(told, "memory") == []
        row = rows[memory_id]
        for name, value in told.items():
            same = datetime.fromisoformat(value) if isinstance(row[name], datetime) else value
            assert row[name] == same, (memory_id, name)
        unsaid = {name for name, value in row.items() if value not in (None, [], 0)} - told.keys() - {"normalised"}
        assert unsaid == set(), memory_id


def test_qdrant_holds_every_memory_with_the_vector_that_postgres_keeps(once: Snapshot):
    rows = {row["memory_id"]: row for row in once.rows["memories"] if row["status"] != "deleted"}
    vectors = {row["memory_id"]: np.frombuffer(row["vector"], dtype="<f4") for row in once.rows["embeddings"]}
    assert once.points.keys() == rows.keys() == vectors.keys()
    for memory_id, (payload, vector) in once.points.items():
        row = rows[memory_id]
        assert {name: payload[name] for name in ("namespace", "kind", "status", "text", "importance")} == {
            name: row[name] for name in ("namespace", "kind", "status", "text", "importance")
        }
        assert set(payload["kinds"]) == {row["kind"], *row["kinds"]}
        assert np.allclose(vector, vectors[memory_id], atol=1e-6)


def test_each_extraction_is_told_completed_once_to_its_window_and_to_whoever_watches(once: Snapshot):
    requests = {row["request_id"]: row for row in once.rows["extractions"]}
    completed = [e for e in once.values(topics.ACTIVITY) if e["type"] == "memstream.extraction.completed"]
    assert Counter(event["data"]["request_id"] for event in completed) == Counter(list(requests))
    assert all(e["subject"] == requests[e["data"]["request_id"]]["conversation_id"] for e in completed)
    answers = [
        (record.partition, json.loads(record.value)["request_id"])
        for record in once.records[topics.WINDOW_CONTROL]
        if json.loads(record.value)["kind"] == "extraction_completed"
    ]
    assert Counter(answers) == Counter((row["partition"], row["request_id"]) for row in requests.values())


def test_requests_and_candidates_carry_their_keys_and_stay_with_their_partitions(once: Snapshot):
    homes = {row["conversation_id"]: row["partition"] for row in once.rows["messages"]}
    for record in once.records[topics.REQUESTS]:
        request = json.loads(record.value)
        assert complaints(request, "extraction-request") == []
        assert record.key.decode() == request["scope"]["conversation_id"]
        assert record.partition == request["partition"] == homes[record.key.decode()]
    for record in once.records[topics.CANDIDATES]:
        batch = json.loads(record.value)
        assert complaints(batch, "candidate-batch") == []
        assert record.key.decode() == batch["namespace"]
    parts = Counter(json.loads(record.value)["request_id"] for record in once.records[topics.CANDIDATES])
    assert parts == {row["request_id"]: len(row["namespaces"]) for row in once.rows["extractions"]}


def test_no_stage_is_behind(once: Snapshot):
    assert once.lags == {"windows": 0, "archive": 0, "extraction": 0, "curation": 0}


def test_publishing_everything_again_changes_nothing(samples: Any):
    once, twice = samples.once, samples.twice
    assert len(twice.records[topics.MESSAGES]) == 2 * len(once.records[topics.MESSAGES])
    for table in once.rows:
        assert sorted(map(str, twice.rows[table])) == sorted(map(str, once.rows[table])), table
    for topic in (*MEMORY,):
        if topic not in (topics.DEAD_LETTERS, topics.WINDOW_CONTROL):
            assert len(twice.records[topic]) == len(once.records[topic]), topic
    assert twice.points == once.points
    assert len(twice.records[topics.DEAD_LETTERS]) == 2 * len(once.records[topics.DEAD_LETTERS])
    assert not any(twice.lags.values())
