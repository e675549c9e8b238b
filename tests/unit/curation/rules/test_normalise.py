import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.curation.rules.normalise import normalise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("User lives in Berlin.", "user  lives in BERLIN"),
        ("User’s dog", "User's dog"),
        ("Die Straße", "die STRASSE"),
        ("“tea” — always!", "tea always"),
        ("cafe\u0301", "café"),
        ("ﬁne", "fine"),
        ("soft\u00adhyphen", "softhyphen"),
        ("love ❤️", "love ❤"),
        ("NUL\x00byte", "NUL\ufffdbyte"),
    ],
)
def test_spelling_case_and_punctuation_do_not_matter(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C"),
        ("C#", "C"),
        ("it is -4 degrees", "it is 4 degrees"),
        ("3.5 litres", "35 litres"),
        ("10:30", "1030"),
        ("likes 🍕", "likes 🍔"),
        ("50 %", "50 €"),
        ("?", "!"),
        ("किताब", "कतब"),
    ],
)
def test_signs_that_carry_meaning_matter(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@given(st.text())
def test_normalising_twice_is_normalising_once(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(min_size=1).filter(str.strip))
def test_what_says_something_never_becomes_nothing_unless_it_cannot_be_seen(text: str) -> None:
    visible = any(char.isalnum() for char in text)
    assert bool(normalise(text)) or not visible
