"""Texts of commands have the length limits of model texts."""

import pytest

from agents.curation.rules.commands.lengths import fitted, too_long
from tests.unit.curation.rules.conftest import MakeCommand


def words(text: str) -> int:
    return len(text.split())


def test_a_command_text_over_the_short_text_limit_becomes_the_full_text(command: MakeCommand) -> None:
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
def test_a_field_over_its_token_limit_is_rejected_with_its_size_and_the_limit(
    command: MakeCommand, fields: dict[str, str], why: str
) -> None:
    order = fitted(command("update", **fields), words)
    assert why in (too_long(order, words) or "")


def test_an_import_command_has_no_text_length_limit(command: MakeCommand) -> None:
    order = command("import", memory_id="m", text="word " * 501)
    assert fitted(order, words) == order
    assert too_long(order, words) is None
