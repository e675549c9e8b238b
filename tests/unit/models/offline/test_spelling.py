"""Single-letter typos in key words are recognised; similar words are not."""

import pytest

from agents.models.offline.rules.engine.spelling import without_typos


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
def test_a_one_letter_typo_is_corrected(said: str, meant: str) -> None:
    assert without_typos(said, "en") == meant


def test_a_typo_is_corrected_with_the_vocabulary_of_the_language() -> None:
    assert without_typos("soy alergica", "es") == "soy alérgica"
    assert without_typos("ich bin alergisch", "de") == "ich bin allergisch"
    assert without_typos("une intolérence", "fr") == "une intolérance"


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
def test_a_word_that_resembles_a_word_of_another_language_is_unchanged(said: str, code: str) -> None:
    assert without_typos(said, code) == said


@pytest.mark.parametrize(
    "said", ["Celtic music", "vegetarians", "many allergies", "végétalien", "peanut", "allergische", "medications"]
)
def test_other_words_and_inflected_forms_are_unchanged(said: str) -> None:
    assert all(without_typos(said, code) == said for code in ("en", "de", "fr", "es"))
