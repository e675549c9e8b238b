"""A fragment that corrects the previous statement becomes that statement with the new value."""

import pytest

from agents.models.offline.provider import OfflineProvider
from tests.builders.slices import knowing, said, slice_of
from tests.fakes.sentence_classifier import STATEMENT, FakeSentenceClassifier


async def kept(*contents: str) -> list[str]:
    answer = await OfflineProvider().extract(
        slice_of(*(said(each, place) for place, each in enumerate(contents, 1))), knowing()
    )
    return [each.text for each in answer.proposals]


@pytest.mark.parametrize(
    ("first", "correction", "text"),
    [
        ("Me casé en 2015.", "no no, en 2016", "El usuario se casó en 2016."),
        ("I have 3 hens.", "sorry, 4", "User has 4 hens."),
        ("My sister has three kids.", "no wait, four kids", "User's sister has four kids."),
        (
            "Mi cita es el lunes a las diez.",
            "Perdón, es el martes a las diez.",
            "Cita del usuario: es el martes a las diez.",
        ),
        ("My boss is called Hartmann.", "*Hardtmann", "User's boss is called Hardtmann."),
    ],
)
async def test_a_short_correction_rewrites_the_previous_statement_with_the_new_value(
    first: str, correction: str, text: str
) -> None:
    assert text in await kept(first, correction)


async def test_a_correction_that_the_classifier_would_quote_is_kept_as_the_corrected_statement_alone() -> None:
    said_first, correction = "My sister has three kids.", "No wait, four kids."
    provider = OfflineProvider(classifier=FakeSentenceClassifier({said_first: STATEMENT, correction: STATEMENT}))
    answer = await provider.extract(slice_of(said_first, correction), knowing())
    assert [each.text for each in answer.proposals] == ["User's sister has three kids.", "User's sister has four kids."]


@pytest.mark.parametrize("answer", ["4", "no, thanks", "no, 4 or 5", "Anne said 4"])
async def test_an_ambiguous_reply_is_not_treated_as_a_correction(answer: str) -> None:
    assert await kept("I have 3 hens.", answer) == ["User has 3 hens."]


@pytest.mark.parametrize(
    ("first", "remark"),
    [
        ("I moved to Oslo.", "Oh no! Peter broke his leg."),
        ("I moved to Oslo.", "Wait, does Anna know Bergen?"),
        ("I moved to Oslo.", "No, Peter lives there."),
        ("Ich bin nach Linz gezogen.", "Oh nein! Wo haben wir das Ferienhaus gebucht?"),
        ("Ich bin nach Linz gezogen.", "Nein, der Zug fällt aus."),
    ],
)
async def test_a_remark_with_a_name_of_its_own_is_no_correction(first: str, remark: str) -> None:
    assert await kept(first, remark) == await kept(first)


@pytest.mark.parametrize("correction", ["No, Bergen.", "Sorry, Bergen actually. Did you get that?"])
async def test_a_name_at_the_end_of_a_correction_replaces_the_earlier_one(correction: str) -> None:
    assert await kept("I moved to Oslo.", correction) == ["User moved to Oslo.", "User moved to Bergen."]


async def test_a_sentence_without_a_subject_is_attributed_to_the_speaker() -> None:
    assert await kept("Moved to Bath.") == ["User moved to Bath."]
    assert await kept("Wohne seit 2019 in Ulm.") == ["Der Nutzer wohnt seit 2019 in Ulm."]
    assert await kept("Started by Anna, finished by Tom.") == []
