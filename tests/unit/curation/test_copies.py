"""Recognition of one statement in two namespaces, of which one has people's names."""

import time

import pytest

from agents.curation.copies import is_copy


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("User lives in Berlin.", "User lives in Berlin"),
        ("User's sister plays the cello.", "Ada Byron's sister plays the cello."),
        ("Der Nutzer wohnt in Turku.", "Ada wohnt in Turku."),
        ("User asked Tom to call User back.", "Ada asked Tom to call Ada back."),
    ],
)
def test_copies_have_the_same_text_or_a_name_for_the_user(text: str, other: str) -> None:
    assert is_copy(text, other)
    assert is_copy(other, text)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("User lives in Berlin.", "User lives in Turku."),
        ("User lives in Berlin.", "Ada lives in Turku."),
        ("Ada lives in Berlin.", "Bob lives in Berlin."),
        ("User asked Tom to call User back.", "Ada asked Tom to call Bob back."),
        ("Deploys run on Friday.", "Tests run on Friday."),
    ],
)
def test_other_statements_are_no_copies(text: str, other: str) -> None:
    assert not is_copy(text, other)


def test_hostile_texts_are_compared_in_linear_time() -> None:
    text = "User " + "and User " * 400
    began = time.process_time()
    assert not is_copy(text, "a " * 2_000)
    assert not is_copy(text, "aand a" * 650 + "b")
    assert time.process_time() - began < 1
