"""Detection of speakers named in a query."""

import pytest

from agents.passages.terms import question_words
from agents.retrieval.question_speakers import named_speakers, without_names


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What are Ana's hobbies?", ("Ana",)),
        ("Where do ana and Bob Ray meet?", ("Ana", "Bob Ray")),
        ("Where does Bob live?", ()),
        ("What did the assistant recommend?", ("assistant",)),
        ("What happened on 42 Main Street?", ()),
    ],
)
def test_a_query_names_a_speaker_by_all_words_of_the_speaker_id(question: str, found: tuple[str, ...]) -> None:
    speakers = ["Ana", "Bob Ray", "Ana", "assistant", "42", "me"]
    assert named_speakers(speakers, question_words(question)) == found


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What are Ana’s hobbies?", "What are hobbies?"),
        ("Which games do Ana and Bob play?", "Which games do and play?"),
        ("Anastasia's cat", "Anastasia's cat"),
        ("Who is Ana?", ""),
    ],
)
def test_speaker_names_are_removed_from_a_query_unless_nothing_else_remains(question: str, rest: str) -> None:
    assert without_names(question, ["Ana", "Bob"]) == rest
