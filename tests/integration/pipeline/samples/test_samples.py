"""The sample conversations create exactly the expected memories on the running pipeline."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from operator import itemgetter
from typing import Any

import pytest

from schemas.kafka import topics
from tests.deployment import Event
from tests.deployment_data import MEMORY, Snapshot
from tests.integration.pipeline.samples.said import (
    EXPECTED,
    NOTHING,
    POLICIES,
    SECRETS,
    namespaces,
    of_text,
    positions,
    slices,
    sources,
    valid_messages,
)


def test_every_valid_message_is_archived_once_with_its_kafka_position(once: Snapshot, published: list[Event]):
    sent = valid_messages(published)
    archived = {(row["conversation_id"], row["message_id"]): row for row in once.rows["messages"]}
    assert archived.keys() == sent.keys()
    assert len(once.rows["messages"]) == len(sent)
    records = {(record.partition, record.offset): record for record in once.records[topics.MESSAGES]}
    for name, row in archived.items():
        assert row["content"] == sent[name]["content"]
        assert json.loads(records[row["partition"], row["position"]].value)["message_id"] == row["message_id"]


def expected_memories(published: list[Event]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(namespace, item) of every item that makes a memory of its own; one that repeats another reinforces it. In a namespace that
    several people feed the text says who."""
    for conversation_id, items in EXPECTED.items():
        own, *shared = namespaces(conversation_id, published)
        _, user_id = own.split("/")
        for item in items:
            if "repeats" not in item:
                yield own, item
                yield from ((name, item | {"text": item["text"].replace("User", user_id, 1)}) for name in shared)


def test_created_memories_are_exactly_the_expected_ones_in_every_namespace(once: Snapshot, published: list[Event]):
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


def test_a_namespace_above_its_limit_is_compacted_with_a_reason(once: Snapshot):
    live = [row for row in once.rows["memories"] if row["namespace"] == "support" and row["status"] == "active"]
    assert len(live) == POLICIES["support"]["max_memories"]
    compacted = [row for row in once.rows["memory_versions"] if row["change"] == "compacted"]
    assert {row["namespace"] for row in compacted} == {"support"}
    assert all(row["cause"]["reason"] for row in compacted)
    compactions = [event for event in once.values(topics.EVENTS) if event["type"] == "memstream.memory.compacted"]
    assert len(compactions) == len(compacted)


@pytest.mark.parametrize("conversation_id", NOTHING)
def test_small_talk_instructions_and_quotations_create_no_memories(conversation_id: str, once: Snapshot):
    completed = [row for row in once.rows["extractions"] if row["conversation_id"] == conversation_id]
    assert [row["completed_at"] is not None for row in completed] == [True]
    source_conversations = [
        source["conversation_id"] for memory in once.rows["memories"] for source in memory["sources"]
    ]
    assert conversation_id not in source_conversations


@pytest.mark.parametrize("table", ["memories", "memory_versions", "outbox", "extractions", "extraction_parts"])
def test_no_pasted_secret_is_stored_outside_the_archive(table: str, once: Snapshot):
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
def test_a_changed_preference_is_superseded_and_keeps_its_validity_interval(
    namespace: str, old: str, new: str, message_id: str, once: Snapshot, published: list[Event]
):
    before, after = (of_text(once.memories(namespace), text) for text in (old, new))
    said_at = datetime.fromisoformat(valid_messages(published)[message_id[:-3], message_id]["timestamp"])
    assert (before["status"], after["status"]) == ("superseded", "active")
    assert (before["superseded_by"], after["supersedes"]) == (after["memory_id"], before["memory_id"])
    assert before["valid_from"] < before["valid_until"] == after["valid_from"] == said_at
    assert after["valid_until"] is None
    versions = [row for row in once.rows["memory_versions"] if row["memory_id"] == before["memory_id"]]
    changes = [row["change"] for row in sorted(versions, key=itemgetter("version"))]  # rows come in the order of pages
    assert changes == ["created", "superseded"]


def test_a_paraphrased_fact_is_reinforced_and_names_both_source_messages(once: Snapshot):
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


def test_every_other_conversation_is_one_completed_slice(once: Snapshot):
    for conversation_id in EXPECTED.keys() - {"support-priya-late"}:
        at = positions(once, conversation_id)
        ((first, last),) = slices(once, conversation_id)
        assert (first, last) == (min(at.values()), max(at.values())), conversation_id
    assert all(row["completed_at"] and row["answer"] and not row["failed_at"] for row in once.rows["extractions"])
