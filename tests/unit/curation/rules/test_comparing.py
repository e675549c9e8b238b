"""How statements are put to the model that compares them."""

import pytest

from agents.curation.rules.comparing import pair_of


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('User said: "Laid off from the studio".', "User laid off from the studio."),
        ("User lives in Leeds.", "User lives in Leeds."),
    ],
)
def test_a_quotation_is_compared_as_a_statement_about_the_user(text: str, asked: str) -> None:
    assert pair_of(text, "User moved.").earlier == asked
    assert pair_of("User moved.", text).later == asked
