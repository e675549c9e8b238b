"""Decoding errors distinguish invalid bytes from invalid shapes, with the position."""

from datetime import UTC, datetime

import pytest

from schemas import codec
from schemas.conversations.messages import ConversationEnded, Message
from schemas.errors import Rejected

MESSAGE = Message(conversation_id="c", message_id="m", role="user", timestamp=datetime(2026, 3, 1, 9, 0, tzinfo=UTC))


def test_a_message_survives_encoding_and_decoding():
    assert codec.decode(codec.encode(MESSAGE), Message) == MESSAGE


def test_defaults_are_not_written():
    assert codec.encode(MESSAGE) == (
        b'{"conversation_id":"c","message_id":"m","role":"user","timestamp":"2026-03-01T09:00:00Z"}'
    )


@pytest.mark.parametrize("data", [None, b"", b"{", b"\xff\xfe", b"NaN", b"{'a': 1}"])
def test_bytes_that_are_no_json_are_undecodable(data):
    with pytest.raises(Rejected) as caught:
        codec.decode(data, Message)
    assert caught.value.reason == "undecodable"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"role": "robot"}, "$.role"),
        ({"timestamp": "2026-03-01T09:00:00"}, "$.timestamp"),
        ({"timestamp": "yesterday"}, "$.timestamp"),
        ({"conversation_id": ""}, "$.conversation_id"),
        ({"message_id": "m" * 257}, "$.message_id"),
        ({"content": 7}, "$.content"),
        ({"tool_calls": [{"id": "1", "name": ""}]}, "$.tool_calls[0].name"),
    ],
)
def test_json_of_a_wrong_shape_is_invalid_with_the_offending_field(change, place):
    value = {"conversation_id": "c", "message_id": "m", "role": "user", "timestamp": "2026-03-01T09:00:00Z"} | change
    with pytest.raises(Rejected) as caught:
        codec.convert(value, Message)
    assert caught.value.reason == "invalid"
    assert place in caught.value.detail


def test_a_missing_field_is_named():
    with pytest.raises(Rejected, match="missing required field `timestamp`"):
        codec.decode(b'{"conversation_id":"c"}', ConversationEnded)


def test_unknown_fields_of_later_versions_are_ignored():
    later = b'{"conversation_id":"c","timestamp":"2026-03-01T09:00:00Z","mood":"good"}'
    assert codec.decode(later, ConversationEnded).conversation_id == "c"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (rb'"\u0000"', rb'"\ufffd"'),
        (rb'"\\u0000"', rb'"\\u0000"'),
        (rb'"\\\u0000"', rb'"\\\ufffd"'),
        (rb'"\u0000\u0000"', rb'"\ufffd\ufffd"'),
    ],
)
def test_only_an_escaped_nul_is_replaced(before: bytes, after: bytes) -> None:
    assert codec.without_nul(before) == after


def test_ids_of_others_have_no_nul_and_so_are_the_same_in_every_store():
    data = b'{"conversation_id":"a\\u0000b","timestamp":"2026-03-01T09:00:00Z"}'
    assert codec.decode_untrusted(data, ConversationEnded).conversation_id == "a\ufffdb"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (rb'"cut \ud83d"', rb'"cut \ufffd"'),
        (rb'"\uDE00 cut"', rb'"\ufffd cut"'),
        (rb'"\ud83d\ud83d\ude00\ude00"', rb'"\ufffd\ud83d\ude00\ufffd"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\\ud83d\ude00"', rb'"\\ud83d\ufffd"'),
        (rb'"\n\ud7ff\ue000"', rb'"\n\ud7ff\ue000"'),
    ],
)
def test_only_an_escaped_half_of_a_surrogate_pair_is_replaced(before: bytes, after: bytes) -> None:
    assert codec.without_lone_surrogates(before) == after


def test_a_text_that_was_cut_within_an_emoji_is_read() -> None:
    data = b'{"conversation_id":"a\\ud83d","timestamp":"2026-03-01T09:00:00Z"}'
    assert codec.decode_untrusted(data, ConversationEnded).conversation_id == "a\ufffd"


def test_a_value_that_is_known_to_be_unreadable_keeps_its_reason() -> None:
    unreadable = codec.Unreadable(rb"\u0000 \ud83d", Rejected("undecodable", "the registry has no such schema"))
    with pytest.raises(Rejected, match="no such schema"):
        codec.decode_untrusted(unreadable, ConversationEnded)
