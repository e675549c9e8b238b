"""Where sentences and their statements end, and what a speaker replaces within one."""

import pytest

from agents.models.offline.rules.engine.sentences import sentences
from tests.unit.models.offline.proposing import proposals


@pytest.mark.parametrize("abbreviation", ["dr.", "Dr.", "ca.", "bzw.", "nr."])
def test_an_abbreviation_ends_no_sentence_however_it_is_written(abbreviation: str) -> None:
    assert sentences(f"Das war {abbreviation} Hennig. Sie ist nett.") == [
        f"Das war {abbreviation} Hennig.",
        "Sie ist nett.",
    ]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Puedo el 12. Trabajo en una panadería.", ["Puedo el 12.", "Trabajo en una panadería."]),
        ("Llego el 12. Prefiero el té.", ["Llego el 12.", "Prefiero el té."]),
        ("Am 3. bin ich in Ulm.", ["Am 3. bin ich in Ulm."]),
        ("J'arrive le 3. Je travaille à Lyon.", ["J'arrive le 3.", "Je travaille à Lyon."]),
        ("Wir treffen uns am 12. Ich arbeite bei Bosch.", ["Wir treffen uns am 12.", "Ich arbeite bei Bosch."]),
        ("Ich wohne im 3. Stock.", ["Ich wohne im 3. Stock."]),
    ],
)
def test_a_number_ends_a_sentence_before_words_of_the_speaker_and_is_an_ordinal_elsewhere(
    text: str, parts: list[str]
) -> None:
    assert sentences(text) == parts


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        (
            "I live in Leeds, but in January I'm moving to Hull.",
            ["User lives in Leeds.", "User is moving to Hull in January."],
        ),
        (
            "Ich wohne in Graz und ab Mai arbeite ich bei Bosch.",
            ["Der Nutzer wohnt in Graz.", "Der Nutzer arbeitet ab Mai bei Bosch."],
        ),
        (
            "Vivo en Lima y desde mayo trabajo en Ica.",
            ["El usuario vive en Lima.", "El usuario trabaja en Ica desde mayo."],
        ),
        ("I met Ana in Rome and in 2010 I married her.", ["User met Ana in Rome and in 2010 they married her."]),
    ],
)
async def test_a_clause_with_a_time_of_its_own_is_a_statement_of_its_own(message: str, texts: list[str]) -> None:
    assert [each.text for each in await proposals(message)] == texts


@pytest.mark.parametrize(
    ("message", "texts"),
    [
        ("My brother lives in Leeds, no wait, I mean in Hull.", ["User's brother lives in Hull."]),
        (
            "Mein Termin ist am Montag, nein, ich meine am Dienstag.",
            ["Termin des Nutzers ist am Dienstag."],
        ),
        ("My brother lives in Leeds, I meant in Hull.", ["User's brother lives in Hull."]),
        ("my brother Emil... sorry, I mean my cousin Emil has a van", ["User's cousin Emil has a van."]),
    ],
)
async def test_words_that_the_speaker_replaces_at_once_are_left_out(message: str, texts: list[str]) -> None:
    assert [each.text for each in await proposals(message)] == texts


@pytest.mark.parametrize(
    "text",
    [
        "I live in Rome, I mean in the centre.",
        "Ich wohne in Rom, ich meine in der Altstadt.",
        "I know, I mean I think so.",
    ],
)
def test_a_repeated_word_without_one_that_takes_back_replaces_nothing(text: str) -> None:
    assert sentences(text) == [text]
