"""Preparation of statements for the model that compares them."""

import pytest

from agents.curation.rules.decisions.comparing import change_tells_apart, names_tell_apart, numbers_tell_apart, pair_of


@pytest.mark.parametrize(
    ("text", "unframed"),
    [
        ('User said: "Laid off from the studio".', "Laid off from the studio."),
        ("User lives in Leeds.", "User lives in Leeds."),
        ('User said: "Laid off" (said: today).', "Laid off (said: today)."),
        ('Der Nutzer sagte: "Wir wohnen in Ulm".', "Wir wohnen in Ulm."),
        ('L\'utilisateur a dit : "On habite à Lille".', "On habite à Lille."),
        ('El usuario dijo: "Somos de Vigo".', "Somos de Vigo."),
    ],
)
def test_quotation_frames_are_removed_before_statements_are_compared(text: str, unframed: str) -> None:
    assert pair_of(text, "User moved.").earlier == unframed
    assert pair_of("User moved.", text).later == unframed


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("Room 3 is on floor 9.", "Room 4 is on floor 12.", True),
        ("Der Sprint 7 endet am Freitag.", "Sprint 8 endet im Mai.", True),
        ("Room 3 is on floor 9.", "Room 3 is on floor 12.", False),
        ("Room 3 is on floor 9.", "Bus 4 leaves at noon.", False),
        ("User is 30 years old.", "User is 31 years old.", False),
        ("Room 3 is on floor 9.", "User moved.", False),
    ],
)
def test_identifying_numbers_distinguish_things_of_the_same_type(text: str, other: str, expected: bool) -> None:
    assert numbers_tell_apart(text, other) is expected


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("User's friend Uwe plays the cello.", "User's friend Omar plays the cello.", True),
        ("User's friend Uwe plays the cello.", "User's friend Omar sold the cello.", True),
        ("Die Freundin Anna spielt Cello.", "Die Freundin Petra spielt Geige.", True),
        ("Jonas trains for a marathon on Mondays.", "Nora trains for a marathon on Mondays.", True),
        ("User's friend Uwe plays the cello.", "User's friend Uwe sold the cello.", False),
        ("User's friend plays the cello.", "User's friend Omar sold the cello.", False),
        ("User's boss is Eva.", "User's boss is Joao.", False),
        ("User's manager Eva approves the holidays.", "User's manager Joao approves the holidays.", False),
        ("Eva is User's boss.", "Joao is User's boss.", False),
        ("Frau Sato trains the team.", "Herr Wolf trains the team now.", False),
        ("User lives in Berlin.", "User lives in Lyon.", False),
        ("User's friend Uwe lives in Berlin.", "User's friend Uwe lives in Lyon.", False),
    ],
)
def test_the_name_of_a_subject_distinguishes_people(text: str, other: str, expected: bool) -> None:
    assert names_tell_apart(text, other) is expected


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("User no longer eats meat, and is vegetarian since March.", "User likes driving.", True),
        ("Lukas ist nach Linz gezogen.", "Lukas ist kein Vegetarier mehr, der Arzt riet ihm zu Fleisch.", True),
        ("User has lived in Graz since May.", "User no longer eats meat, vegetarian since March.", True),
        ("Der Nutzer fährt gern.", "Der Nutzer isst kein Fleisch mehr, seit März Vegetarier.", True),
        ("L'utilisatrice habite à Lille.", "L'utilisatrice ne mange plus de viande, elle est végétarienne.", True),
        ("El usuario vive en Vigo.", "El usuario ya no come carne, es vegetariano desde marzo.", True),
        ("El usuario come carne.", "El usuario ya no come carne, es vegetariano desde marzo.", False),
        ("User owns stock in Kone.", "User sold 1,000 shares.", False),
        ("User is single.", "User quit the job and got married in May.", False),
        ("User is vegetarian.", "User no longer eats meat, vegetarian since March.", False),
        ("User commutes by car.", "User sold the car and takes the bus now.", False),
        ("User works at Kone.", "User was laid off and looks for work.", False),
    ],
)
def test_a_statement_with_a_change_of_its_own_ends_none_without_a_common_word(
    text: str, other: str, expected: bool
) -> None:
    assert change_tells_apart(text, other) is expected
