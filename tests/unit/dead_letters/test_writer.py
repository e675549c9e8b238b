"""A dead letter is readable and can be replayed unchanged."""

from datetime import UTC, datetime

from agents.dead_letters.writer import dead_letter, dead_letter_headers
from schemas.errors import Rejected
from schemas.kafka import topics
from tests.fakes.batches import record

AT = datetime(2026, 11, 1, 12, tzinfo=UTC)
REJECTED = Rejected("invalid", "not a Message: field `role`")


def test_a_dead_letter_has_the_key_value_and_headers_of_its_record():
    source = record(
        "chat.messages", 7, b"\xff\x00 not json", key=b"\xfekey", headers=[("trace", b"\x00\xff"), ("b", b"")]
    )
    letter = dead_letter(source, "windows", REJECTED, AT)
    assert letter.topic == topics.DEAD_LETTERS
    assert (letter.key, letter.value) == (b"\xfekey", b"\xff\x00 not json")
    assert letter.headers[:2] == (("trace", b"\x00\xff"), ("b", b""))


def test_a_dead_letter_has_the_reason_and_source_position_in_its_headers():
    letter = dead_letter(record("chat.messages", 7, b"x", partition=3), "windows", REJECTED, AT)
    assert dead_letter_headers(letter.headers) == {
        "reason": "invalid",
        "detail": "not a Message: field `role`",
        "stage": "windows",
        "topic": "chat.messages",
        "partition": "3",
        "offset": "7",
        "timestamp-ms": "1700000000007",
        "at": "2026-11-01T12:00:00+00:00",
    }


def test_a_record_without_key_and_value_becomes_a_dead_letter_with_an_empty_value():
    letter = dead_letter(record("chat.messages", 7, None, key=None), "windows", REJECTED, AT)
    assert (letter.key, letter.value) == (None, b"")


def test_rejecting_a_record_twice_gives_equal_dead_letters():
    source = record("chat.messages", 7, b"x")
    assert dead_letter(source, "windows", REJECTED, AT) == dead_letter(source, "windows", REJECTED, AT)


def test_a_replayed_and_again_rejected_dead_letter_has_only_the_latest_headers():
    first = dead_letter(record("chat.messages", 7, b"x", headers=[("trace", b"1")]), "windows", REJECTED, AT)
    back = record("chat.messages", 90, first.value, headers=first.headers)
    again = dead_letter(back, "windows", Rejected("undecodable", "not JSON"), AT)
    assert dead_letter_headers(again.headers)["offset"] == "90"
    assert dead_letter_headers(again.headers)["reason"] == "undecodable"
    names = [name for name, _ in again.headers]
    assert len(names) == len(set(names))
    assert ("trace", b"1") in again.headers


def test_unencodable_characters_in_the_detail_are_replaced():
    letter = dead_letter(record("t", 1, b"x"), "windows", Rejected("invalid", "lone \ud83d surrogate"), AT)
    assert dead_letter_headers(letter.headers)["detail"] == "lone ? surrogate"
