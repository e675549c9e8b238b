"""Versions of memories by candidates: their dates, and what ended and deleted ones keep."""

from datetime import datetime, timedelta

from agents.curation.rules.ledger import change
from tests.unit.curation.rules.conftest import MakeCandidate, MakeMemory, MakeSource


def test_a_new_memory_is_valid_from_its_earliest_source(
    candidate: MakeCandidate, source: MakeSource, now: datetime
) -> None:
    said = candidate("User has a dog", sources=(source(7), source(3)))
    assert change.created(said, "n", "offline", now).valid_from == source(3).timestamp


def test_valid_from_is_a_past_event_time_but_never_a_future_one(candidate: MakeCandidate, now: datetime) -> None:
    moved = candidate("User moved", event_time=now - timedelta(days=900))
    planned = candidate("User will move", event_time=now + timedelta(days=900))
    assert change.created(moved, "n", "offline", now).valid_from == moved.event_time
    assert change.created(planned, "n", "offline", now).valid_from == planned.sources[0].timestamp


def test_a_superseded_memory_keeps_its_text_and_ends_when_the_new_one_begins(
    memory: MakeMemory, source: MakeSource, now: datetime
) -> None:
    until = source(30).timestamp
    assert until is not None
    old, new = memory("User lives in Paris", at=5), memory("User moved to Berlin")
    after = change.superseded(old, new, until, now)
    assert (after.status, after.superseded_by, after.text) == ("superseded", new.memory_id, old.text)
    assert (after.valid_from, after.valid_until) == (source(5).timestamp, until)


def test_no_memory_ends_before_it_begins(memory: MakeMemory, source: MakeSource, now: datetime) -> None:
    early = source(1).timestamp
    assert early is not None
    after = change.superseded(memory("User lives in Paris", at=5), memory("x"), early, now)
    assert after.valid_until == after.valid_from


def test_a_deleted_memory_has_no_content_left(memory: MakeMemory, now: datetime) -> None:
    before = memory("User has a dog", tags=("pets",), context="c", full_text="f", kinds=("pet",))
    after = change.deleted(before, now)
    assert (after.text, after.tags, after.context, after.full_text, after.kinds, after.sources) == (
        *("", (), None, None, (), ()),
    )
    assert after.status == "deleted"
