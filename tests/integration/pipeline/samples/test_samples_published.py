"""Published events of the samples match the stored data, also after the samples are published again."""

import json
from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from schemas.kafka import topics
from tests.deployment import Event
from tests.deployment_data import MEMORY, Snapshot
from tests.integration.pipeline.samples.said import malformed
from tests.json_schema import violations


def test_malformed_events_become_dead_letters_with_reason_position_and_original_value(
    once: Snapshot, published: list[Event], samples: Any
):
    dead_letters = once.records[topics.DEAD_LETTERS]
    wanted = malformed(published)
    assert len(dead_letters) == len(wanted) == 2
    by_value = {event.bytes: event for event in wanted}
    for letter in dead_letters:
        event = by_value[letter.value]
        headers = {name.removeprefix("memstream-"): value.decode() for name, value in letter.headers}
        assert violations({name: value.decode() for name, value in letter.headers}, "dead-letter-headers") == []
        assert headers["reason"] == ("undecodable" if letter.value == b"{not json" else "invalid")
        assert (headers["stage"], headers["topic"]) == ("windows", samples.deployment.topic(topics.MESSAGES))
        (source,) = [
            record
            for record in once.records[topics.MESSAGES]
            if (record.partition, record.offset) == (int(headers["partition"]), int(headers["offset"]))
        ]
        assert (source.value, source.key) == (letter.value, letter.key) == (event.bytes, event.key.encode())
        assert int(headers["timestamp-ms"]) == source.timestamp
        assert set(source.headers) == set(event.headers) <= set(letter.headers)
        assert "role" in headers["detail"] if headers["reason"] == "invalid" else "JSON" in headers["detail"]


@pytest.mark.parametrize(("topic", "schema"), [(topics.EVENTS, "memory-event"), (topics.ACTIVITY, "activity-event")])
def test_events_are_structured_cloudevents_with_unique_ids(topic: str, schema: str, once: Snapshot):
    records = once.records[topic]
    assert records
    for record in records:
        event = json.loads(record.value)
        assert violations(event, schema) == []
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


def test_every_change_has_a_matching_version_and_event(once: Snapshot):
    versions = {(row["memory_id"], row["version"]): row for row in once.rows["memory_versions"]}
    events = {(e["subject"], e["data"]["memory"]["version"]): e for e in once.values(topics.EVENTS)}
    assert versions.keys() == events.keys()
    for name, row in versions.items():
        event = events[name]
        assert event["type"] == f"memstream.memory.{row['change']}"
        assert event["data"]["memory"] == row["after"]
        assert event["data"]["cause"] == row["cause"]


def test_the_compacted_state_topic_equals_postgres_for_every_memory(once: Snapshot):
    states = {record.key.decode(): record.value for record in once.records[topics.STATE]}
    latest = {memory_id: json.loads(value) for memory_id, value in states.items() if value is not None}
    rows = {row["memory_id"]: row for row in once.rows["memories"]}
    assert states.keys() == rows.keys()
    assert latest.keys() == {memory_id for memory_id, row in rows.items() if row["status"] != "deleted"}
    for memory_id, latest_event in latest.items():
        assert violations(latest_event, "memory") == []
        row = rows[memory_id]
        for name, value in latest_event.items():
            same = datetime.fromisoformat(value) if isinstance(row[name], datetime) else value
            assert row[name] == same, (memory_id, name)
        unsaid = (
            {name for name, value in row.items() if value not in (None, [], 0)} - latest_event.keys() - {"normalised"}
        )
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


def test_each_completed_extraction_is_published_once_to_its_window_and_as_an_activity_event(once: Snapshot):
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


def test_requests_and_candidates_have_the_expected_keys_and_partitions(once: Snapshot):
    homes = {row["conversation_id"]: row["partition"] for row in once.rows["messages"]}
    for record in once.records[topics.REQUESTS]:
        request = json.loads(record.value)
        assert violations(request, "extraction-request") == []
        assert record.key.decode() == request["scope"]["conversation_id"]
        assert record.partition == request["partition"] == homes[record.key.decode()]
    for record in once.records[topics.CANDIDATES]:
        batch = json.loads(record.value)
        assert violations(batch, "candidate-batch") == []
        assert record.key.decode() == batch["namespace"]
    parts = Counter(json.loads(record.value)["request_id"] for record in once.records[topics.CANDIDATES])
    assert parts == {row["request_id"]: len(row["namespaces"]) for row in once.rows["extractions"]}


def test_no_stage_has_lag(once: Snapshot):
    assert once.lags == dict.fromkeys(("windows", "archive", "passages", "extraction", "curation"), 0)


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


def test_derived_records_keep_the_trace_of_their_messages(once: Snapshot, published: list[Event]):
    """Nobody records spans here."""
    (traceparent,) = {dict(event.headers)["traceparent"] for event in published}
    for topic in (topics.REQUESTS, topics.CANDIDATES, topics.EVENTS, topics.STATE):
        assert {dict(record.headers).get("traceparent") for record in once.records[topic]} == {traceparent}, topic
