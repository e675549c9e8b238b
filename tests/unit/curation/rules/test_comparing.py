"""How statements are put to the model that compares them."""

import pytest

from agents.curation.rules.comparing import pair_of


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('User said: "Laid off from the studio".', "User laid off from the studio."),
        ("User lives in Leeds.", "User lives in Leeds."),
        ('User said: "Laid off" (said: today).', "User laid off (said: today)."),
        ('Der Nutzer sagte: "Wir wohnen in Ulm".', "Wir wohnen in Ulm."),
        ('L\'utilisateur a dit : "On habite à Lille".', "On habite à Lille."),
        ('El usuario dijo: "Somos de Vigo".', "Somos de Vigo."),
    ],
)
def test_a_quotation_is_compared_as_a_statement(text: str, asked: str) -> None:
    assert pair_of(text, "User moved.").earlier == asked
    assert pair_of("User moved.", text).later == asked
