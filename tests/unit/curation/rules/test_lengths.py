"""Texts of commands are held to the lengths of those that models write."""

from collections.abc import Callable

import pytest

from agents.curation.rules.lengths import fitted, too_long
from schemas.memories.commands import Command

MakeCommand = Callable[..., Command]


def words(text: str) -> int:
    return len(text.split())


def test_a_text_that_is_too_long_for_a_short_one_becomes_the_full_text(command: MakeCommand) -> None:
    long = "word " * 501
    order = fitted(command("create", text=long), words)
    assert (order.text, order.full_text) == (None, long)
    assert too_long(order, words) is None
    short = command("create", text="word " * 500)
    assert fitted(short, words) == short


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"text": "word " * 501, "full_text": "more"}, "text has 501 tokens, the limit is 500"),
        ({"full_text": "word " * 4_001}, "full_text has 4001 tokens, the limit is 4000"),
    ],
)
def test_what_no_field_may_hold_is_refused_with_its_size_and_the_limit(
    command: MakeCommand, fields: dict[str, str], why: str
) -> None:
    order = fitted(command("update", **fields), words)
    assert why in (too_long(order, words) or "")


def test_what_was_stored_elsewhere_is_imported_whatever_its_length(command: MakeCommand) -> None:
    order = command("import", memory_id="m", text="word " * 501)
    assert fitted(order, words) == order
    assert too_long(order, words) is None
