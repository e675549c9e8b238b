import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.curation.rules.statements.normalise import normalise


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
def test_normalisation_ignores_case_punctuation_and_unicode_variants(one: str, other: str) -> None:
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
def test_normalisation_keeps_symbols_that_carry_meaning(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@given(st.text())
def test_normalisation_is_idempotent(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(min_size=1).filter(str.strip))
def test_text_with_alphanumeric_characters_never_normalises_to_an_empty_string(text: str) -> None:
    visible = any(char.isalnum() for char in text)
    assert bool(normalise(text)) or not visible
