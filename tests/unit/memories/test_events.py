"""Memory events are CloudEvents 1.0 whose id is derived from namespace and sequence."""

from datetime import UTC, datetime

import orjson

from schemas import codec, ids
from schemas.memories.events import Cause, MemoryChanged, MemoryEvent
from tests.builders.memories import a_memory

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
MEMORY = a_memory("User lives in Porto.", AT, memory_id="m-1", namespace="notes/mara", sequence=4, created_by="offline")
EVENT = MemoryEvent.of(
    MemoryChanged(change="created", namespace="notes/mara", sequence=4, memory=MEMORY, cause=Cause(actor="offline")), AT
)


def test_a_memory_event_has_the_attributes_that_cloudevents_require():
    written = orjson.loads(codec.encode(EVENT))
    assert written["specversion"] == "1.0"
    assert written["id"] == ids.event_id("notes/mara", 4)
    assert written["source"] == "memstream"
    assert written["type"] == "memstream.memory.created"
    assert written["subject"] == "m-1"
    assert written["time"] == "2026-03-01T09:00:00Z"
    assert written["datacontenttype"] == "application/json"
    assert written["data"]["memory"]["text"] == "User lives in Porto."


def test_the_same_change_always_has_the_same_event_id():
    assert MemoryEvent.of(EVENT.data, AT).id == EVENT.id


def test_a_memory_event_survives_encoding_and_decoding():
    assert codec.decode(codec.encode(EVENT), MemoryEvent) == EVENT
