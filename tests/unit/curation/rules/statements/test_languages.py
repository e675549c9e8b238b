"""Statements in two languages: tags in any case, and the content of merged texts."""

import pytest

from agents.curation.rules.ledger.merge import merge, preserves
from agents.curation.rules.statements.languages import are_other_languages, as_translated
from schemas.memories.memories import Memory
from tests.unit.curation.rules.conftest import MakeCandidate, MakeMemory

BOTH = "User is allergic to penicillin and has a brother called Elias"


@pytest.mark.parametrize(("mine", "theirs"), [("DE", "de"), ("de-AT", "DE"), ("de-at", "De-DE"), ("en", None)])
def test_language_tags_match_regardless_of_case_and_region(mine: str, theirs: str | None) -> None:
    assert not are_other_languages(mine, theirs)


def test_different_languages_are_distinguished_regardless_of_case() -> None:
    assert are_other_languages("DE", "en") and are_other_languages("en-GB", "De")


def refined(memory: Memory, candidate: MakeCandidate, text: str, now) -> str:
    said = as_translated(candidate(text, language="de", refines=memory.memory_id))
    return merge(memory, said, now, 200).text


def test_a_translation_that_drops_names_or_most_content_does_not_replace_the_memory_text(
    candidate: MakeCandidate, memory: MakeMemory, now
) -> None:
    known = memory(BOTH, language="en")
    for lacking in (
        "Der Nutzer hat einen Bruder.",
        "Der Nutzer hat einen Bruder, der Elias heißt.",
        "Der Nutzer ist gegen Penicillin allergisch und hat einen Bruder, der in Bonn wohnt.",
    ):
        assert BOTH in refined(known, candidate, lacking, now)
    whole = "Der Nutzer ist gegen Penicillin allergisch und hat einen Bruder, der Elias heißt und in Bonn wohnt."
    assert refined(known, candidate, whole, now) == whole


@pytest.mark.parametrize(
    ("said", "language", "text", "kept"),
    [
        ("Der Hund des Nutzers heißt Rex", "de", "User's dog is called Rex and is a labrador", True),
        (
            "Der Nutzer ist allergisch gegen Erdnüsse und hat einen Bruder namens Elias",
            "de",
            "User has a brother",
            False,
        ),
        ("User works as a kindergarten teacher in Bonn", "en", "Der Nutzer arbeitet als Kindergärtnerin in Bonn", True),
        ("User speaks Finnish", "en", "Der Nutzer spricht Finnisch und Samisch", True),
        ("User has 3 cats", "en", "Der Nutzer hat schwarze Katzen", False),
        ("用户对花生过敏", "zh", "User is allergic to peanuts", True),
    ],
)
def test_a_translation_must_preserve_numbers_names_and_about_as_many_words(
    said: str, language: str, text: str, kept: bool
) -> None:
    assert preserves(text, "en" if language == "de" or language == "zh" else "de", said, language) is kept
