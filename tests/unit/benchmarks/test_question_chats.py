"""The labelled chats that the encoder of questions is trained with."""

from pathlib import Path

import pytest

from tests.benchmarks.questions.chats import KINDS, Asked, Chat, chat_of, labelled, scenes

CHAT = """
1|Ana|how was the weekend
2|Ben|played nine holes
QUESTIONS
category|Which sports does Ben do?|2
"""


def read(folder: Path, text: str) -> Chat:
    path = folder / "friends-1.txt"
    path.write_text(text)
    return chat_of(path)


def test_a_chat_has_messages_and_questions_with_the_places_of_their_answers(tmp_path: Path) -> None:
    chat = read(tmp_path, CHAT)
    assert chat.messages == [("Ana", "how was the weekend"), ("Ben", "played nine holes")]
    assert chat.questions == [Asked("category", "Which sports does Ben do?", (1,))]


@pytest.mark.parametrize(
    ("line", "instead", "error"),
    [
        ("2|Ben|played nine holes", "3|Ben|played nine holes", r"2\|speaker\|text"),
        ("2|Ben|played nine holes", "2||played nine holes", r"2\|speaker\|text"),
        ("|2\n", "|3\n", r"kind\|question\|numbers"),
        ("|2\n", "|0\n", r"kind\|question\|numbers"),
        ("|2\n", "|two\n", r"kind\|question\|numbers"),
        ("|2\n", "|2 two\n", r"kind\|question\|numbers"),
        ("|2\n", "|\n", r"kind\|question\|numbers"),
        ("category|", "colour|", r"kind\|question\|numbers"),
        ("QUESTIONS", "questions", "QUESTIONS"),
    ],
)
def test_a_file_of_another_form_is_rejected_with_its_path(tmp_path: Path, line: str, instead: str, error: str) -> None:
    with pytest.raises(ValueError, match=rf"friends-1\.txt.*{error}"):
        read(tmp_path, CHAT.replace(line, instead))


def test_every_labelled_chat_can_be_read_and_asks_questions_of_each_kind() -> None:
    chats = labelled()
    assert {each.kind for chat in chats for each in chat.questions} == set(KINDS)
    for chat in chats:
        assert len(chat.questions) >= 40, chat.name
        assert len({each.text for each in chat.questions}) == len(chat.questions), chat.name


def test_some_chats_are_held_out_of_training() -> None:
    held_out = [chat.is_held_out for chat in labelled()]
    assert 0.08 < sum(held_out) / len(held_out) < 0.25


def test_the_scenes_of_friendsqa_become_chats_of_first_names() -> None:
    said = [
        {"uid": 4, "speakers": ["Ross Geller"], "utterance": "His name is Jordie ."},
        {"uid": 7, "speakers": [], "utterance": "They leave ."},
    ]
    answers = [{"utterance_id": 4}, {"utterance_id": 4}]
    paragraph = {"utterances:": said, "qas": [{"question": "What is the name ? ", "answers": answers}]}
    (chat,) = scenes({"data": [{"title": "s01", "paragraphs": [paragraph]}]})
    assert chat.messages == [("Ross", "His name is Jordie ."), ("Note", "They leave .")]
    assert chat.questions == [Asked("fact", "What is the name ?", (0,))]
