"""References to earlier messages are counted once each."""

import pytest

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import MAX_REFERENCES, references


def count(text: str, role: str = "user") -> int:
    return references(detect(role, text).traits)


@pytest.mark.parametrize(
    "text",
    [
        "As I said earlier, we leave on Monday.",
        "Please use the table you showed me.",
        "See the list above.",
        "What do you mean in your previous answer?",
        "Coming back to what we discussed: how large is it?",
        "Wie schon erwähnt, wir sind zu dritt.",
        "Und das von vorhin?",
        "Comme je l'ai dit, nous sommes trois.",
        "Como te dije, somos tres.",
        "En tu respuesta anterior faltaba algo.",
    ],
)
def test_a_reference_is_found_once(text):
    assert count(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "He said that it rains.",
        "I took an earlier train.",
        "It is above 30 degrees.",
        "My previous employer was a bank.",
        "Have you discussed it with your boss?",
        "Ich habe das nie gesehen.",
        "J'ai dix ans.",
        "El año anterior fue malo.",
    ],
)
def test_words_that_refer_to_something_else_are_not_counted_as_references(text):
    assert count(text) == 0


def test_separate_references_in_one_message_are_counted_separately():
    assert (
        count("As I said we are three people. You mentioned a train with a restaurant, and the list above has none.")
        == 3
    )


def test_the_reference_count_is_bounded():
    assert count("As I said, this is how it goes with all of them. " * 30) <= MAX_REFERENCES
