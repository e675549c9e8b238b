"""Slips of one letter in words that must not be missed, and words that only look like one."""

import pytest

from agents.models.offline.rules.spelling import spelled


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("Alergic to bees", "Allergic to bees"),
        ("a vegitarian", "a vegetarian"),
        ("pregnat", "pregnant"),
        ("celaic", "celiac"),
        ("penicilin", "penicillin"),
    ],
)
def test_a_slip_of_one_letter_is_mended(said: str, meant: str) -> None:
    assert spelled(said, "en") == meant


def test_a_slip_is_mended_by_the_words_of_the_language() -> None:
    assert spelled("soy alergica", "es") == "soy alérgica"
    assert spelled("ich bin alergisch", "de") == "ich bin allergisch"
    assert spelled("une intolérence", "fr") == "une intolérance"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Wir essen koscher", "de"),
        ("Como kosher", "es"),
        ("une intolérance au lactose", "fr"),
        ("eine Intoleranz", "de"),
        ("tengo intolerancia", "es"),
        ("je mange casher", "fr"),
    ],
)
def test_a_word_that_resembles_one_of_another_language_stays(said: str, code: str) -> None:
    assert spelled(said, code) == said


@pytest.mark.parametrize(
    "said", ["Celtic music", "vegetarians", "many allergies", "végétalien", "peanut", "allergische", "medications"]
)
def test_another_word_and_another_form_of_a_word_stay(said: str) -> None:
    assert all(spelled(said, code) == said for code in ("en", "de", "fr", "es"))
