"""Counts with their nouns."""

import pytest

from schemas.counts import counted


@pytest.mark.parametrize(
    ("number", "plural", "said"),
    [
        (1, "messages", "1 message"),
        (1, "memories", "1 memory"),
        (1, "new passages", "1 new passage"),
        (0, "messages", "0 messages"),
        (1_234, "memories", "1,234 memories"),
    ],
)
def test_a_number_agrees_with_its_noun(number: int, plural: str, said: str):
    assert counted(number, plural) == said
