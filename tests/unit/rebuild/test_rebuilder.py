"""Rebuilding memories, sequences and erasures from records."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from agents.curation.rules.ledger.change import deleted
from agents.rebuild.rebuilder import ReadCounts, page
from schemas.codec import encode
from schemas.kafka import topics
from schemas.memories.events import Cause, Change, MemoryChanged, MemoryEvent
from schemas.memories.memories import Memory
from sinks.memories.writer import state_record, tombstone_record
from sinks.rebuild.rebuilds import Page
from streams.kafka.log import Chunk
from tests.builders.memories import a_memory
from tests.fakes.log import Record

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DOGS = a_memory("The user has 2 dogs", memory_id="m")
GONE = replace(deleted(DOGS, NOON), version=2, sequence=2)


def event(change: Change, memory: Memory, **cause: Any) -> Record:
    changed = MemoryChanged(
        change=change,
        namespace=memory.namespace,
        sequence=memory.sequence,
        memory=memory,
        cause=Cause(actor="somebody", **cause),
    )
    return Record(0, b"n", encode(MemoryEvent.of(changed, NOON)), ())


def stated(memory: Memory) -> Record:
    record = state_record(memory)
    return Record(0, record.key, record.value, record.headers)


def paged(topic: str, records: Sequence[Record], read: ReadCounts | None = None) -> Page:
    return page((topic, 3), Chunk(3, records, 17), read or ReadCounts())


def test_a_page_contains_the_latest_state_of_a_memory() -> None:
    newer = replace(DOGS, version=2, sequence=2, text="The user has 3 dogs")
    found = paged(topics.STATE, [stated(newer), stated(DOGS)])
    assert [row["text"] for row in found.rows] == ["The user has 3 dogs"]
    assert [row["normalised"] for row in found.rows] == ["the user has 3 dogs"]
    assert (found.heads, found.partition, found.position) == ({"n": 2}, (topics.STATE, 3), 17)


def test_a_tombstone_is_attributed_to_its_namespace_by_headers() -> None:
    record = tombstone_record("m", "n", 2, 9)
    found = paged(topics.STATE, [stated(DOGS), Record(1, record.key, None, record.headers)])
    assert (list(found.rows), list(found.shells), found.heads) == ([], [], {"n": 9})
    assert [(change.memory_id, change.memory, change.erased) for change in found.latest] == [("m", None, False)]


def test_a_deletion_keeps_an_empty_row_and_the_versions_of_the_memory() -> None:
    found = paged(topics.EVENTS, [event("created", DOGS), event("deleted", GONE)])
    assert [(row["memory_id"], row["status"], row["text"]) for row in found.shells] == [("m", "deleted", "")]
    assert [version.change for version in found.versions] == ["created", "deleted"]
    assert found.fences == {}


def test_an_erasure_leaves_only_the_sequence_and_a_fence_for_a_whole_namespace() -> None:
    for erased, fences in (("namespace", {"n": NOON}), ("conversations", {})):
        found = paged(topics.EVENTS, [event("created", DOGS), event("purged", GONE, erased=erased)])
        assert (list(found.rows), list(found.shells), list(found.versions)) == ([], [], [])
        assert (found.heads, found.fences) == ({"n": 2}, fences)


def test_a_memory_recreated_under_its_id_keeps_only_what_follows_the_erasure() -> None:
    again = replace(DOGS, sequence=3)
    found = paged(topics.EVENTS, [event("created", DOGS), event("purged", GONE), event("created", again)])
    assert [row["sequence"] for row in found.rows] == [3]
    assert [version.after.sequence for version in found.versions] == [3]


def test_foreign_records_are_counted_as_unreadable_and_ignored() -> None:
    read = ReadCounts()
    strange = [Record(0, b"a", b"not JSON", ()), Record(1, None, None, ()), Record(2, b"b", b"{}", ())]
    found = paged(topics.STATE, [*strange, stated(DOGS)], read)
    assert len(found.latest) == 1
    assert (read.records, read.unreadable) == (4, 3)
