"""All passages of a message are stored in one transaction."""

from typing import Any

from agents.passages.indexer import TRANSACTION_PASSAGES, portions


def message(pieces: int) -> Any:
    return [(f"text {number}", None) for number in range(pieces)]


def test_short_messages_are_stored_together() -> None:
    assert [len(part) for part in portions([message(1)] * (TRANSACTION_PASSAGES + 5))] == [TRANSACTION_PASSAGES, 5]


def test_a_message_is_never_split_across_transactions() -> None:
    more_than_half, long = TRANSACTION_PASSAGES // 2 + 1, 3 * TRANSACTION_PASSAGES
    built = [message(more_than_half), message(more_than_half), message(long), message(2)]
    assert [len(part) for part in portions(built)] == [more_than_half, more_than_half, long, 2]


def test_messages_without_passages_start_no_transaction() -> None:
    assert portions([message(0), message(0)]) == []
