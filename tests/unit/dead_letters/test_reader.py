"""Reading dead letters: selection, replay and outcomes."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from agents.dead_letters.reader import (
    DeadLetter,
    DeadLetterFilter,
    original_record,
    parse_dead_letter,
    parse_places,
    parse_settlement,
    replay_topic,
    settlement,
)
from agents.dead_letters.writer import MAX_COPIED_BYTES, REPLAYED
from schemas.errors import Rejected
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from tests.builders.dead_letters import TRACE, put_aside, record_of, source
from tests.builders.slices import MONDAY


def test_a_dead_letter_converts_back_to_the_original_record_and_partition():
    letter = put_aside(source())
    back = original_record(parse_dead_letter(letter), letter, "a.")
    assert back == Outgoing(topic=topics.MESSAGES, key=b"c", value=b"{}", headers=(TRACE,), partition=5)


@pytest.mark.parametrize("record", [{"value": None}, {"value": b""}, {"key": None}])
def test_null_and_empty_keys_and_values_survive_a_dead_letter(record: dict[str, Any]):
    letter = put_aside(came := source(**record))
    back = original_record(parse_dead_letter(letter), letter, "a.")
    assert (back.key, back.value) == (came.key, came.value)


def test_a_dead_letter_by_reference_is_replayed_from_its_source_record():
    letter = put_aside(came := source(value=b"x" * MAX_COPIED_BYTES))
    read = parse_dead_letter(letter)
    assert (read.by_reference, read.bytes) == (True, 0)
    assert original_record(read, came, "a.").value == came.value


@pytest.mark.parametrize("topic", ["b.chat.messages", "a.memory.events", "a.memory.policies", "a.memory.dead-letters"])
def test_a_dead_letter_of_a_foreign_or_internal_topic_cannot_be_replayed(topic: str):
    """A policy that was put since would be put back by an older one."""
    letter = put_aside(source(topic=topic))
    with pytest.raises(Rejected, match="cannot be replayed to"):
        original_record(parse_dead_letter(letter), letter, "a.")


def test_a_refused_letter_of_a_policy_says_what_to_do():
    letter = parse_dead_letter(put_aside(source(topic="memory.policies")))
    with pytest.raises(Rejected, match="put a valid policy, then discard it"):
        replay_topic(letter, "")


def test_a_foreign_record_in_the_topic_is_parsed_as_a_dead_letter_without_a_source():
    strange = SimpleNamespace(partition=0, offset=0, timestamp=1_000, key=None, value=None, headers=())
    letter = parse_dead_letter(strange)
    assert (letter.place, letter.reason, letter.source, letter.at.timestamp()) == ("0:0", "", None, 1.0)
    with pytest.raises(Rejected, match="does not name its source topic"):
        original_record(letter, strange, "")


def test_the_settlement_of_a_dead_letter_follows_it_in_its_partition_without_content():
    record = put_aside(source())
    letter = parse_dead_letter(record)
    settled = settlement(record, letter, "discarded", MONDAY)
    assert (settled.topic, settled.partition, settled.value) == (topics.DEAD_LETTERS, 3, b"")
    assert TRACE not in settled.headers
    assert parse_settlement(record_of(settled, offset=18)) == ("3:17", "discarded")
    assert parse_settlement(record) is None
    assert parse_dead_letter(record_of(settled)).source == letter.source, (
        "a reader who knows nothing of it sees the same source"
    )


def at(place: str, **changed: Any) -> DeadLetter:
    ((partition, offset, _),) = parse_places([place])
    letter = parse_dead_letter(put_aside(source(), **changed))
    return structs.replace(letter, partition=partition, offset=offset)


def test_a_dead_letter_filter_combines_place_range_reason_stage_and_time():
    some = DeadLetterFilter(places=parse_places(["3:10-12", "4:1"]))
    assert [place for place in ("3:9", "3:10", "3:12", "3:13", "4:1", "4:2") if at(place) in some] == [
        "3:10",
        "3:12",
        "4:1",
    ]
    assert at("1:1", reason="refused") in DeadLetterFilter(reason="refused", stage="windows")
    assert at("1:1", reason="refused") not in DeadLetterFilter(reason="refused", stage="archive")
    assert at("1:1") in DeadLetterFilter(since=MONDAY, until=MONDAY + timedelta(seconds=1))
    assert at("1:1") not in DeadLetterFilter(until=MONDAY)
    assert at("1:1") not in DeadLetterFilter(since=MONDAY + timedelta(seconds=1))


@pytest.mark.parametrize("text", ["3", "3:", "a:1", "3:1-", "-1:2", "3:1 "])
def test_an_invalid_place_of_a_dead_letter_is_named_in_the_error(text: str):
    with pytest.raises(ValueError, match="not the place of a dead letter"):
        parse_places([text])


def test_a_replayed_record_that_failed_unexpectedly_carries_a_replayed_header():
    """It is in the archive, and would be taken for one that was extracted."""
    for reason, said in (("unforeseen", True), ("invalid", False)):
        letter = put_aside(source(), reason=reason)
        back = original_record(parse_dead_letter(letter), letter, "a.")
        assert ((REPLAYED, b"true") in back.headers) is said
