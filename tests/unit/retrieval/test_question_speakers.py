"""Detection of speakers named in a query."""

import pytest

from agents.passages.terms import question_words
from agents.retrieval.question_speakers import named_speakers


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
