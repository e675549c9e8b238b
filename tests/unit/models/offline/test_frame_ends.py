"""After a message that opens a role play, a story or a hypothesis, the classifier tells facts from what continues it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agents.models.offline.provider import OfflineProvider
from schemas.extraction.sentences import Sentence, SentenceScores
from sinks.classification.sentences import OnnxSentenceClassifier
from tests.builders.slices import knowing, said, slice_of
from tests.fakes.sentence_classifier import LIMIT, STATEMENT, UNREAL, FakeSentenceClassifier

CASES = json.loads(Path(__file__).with_name("frame_ends.json").read_text(encoding="utf-8"))
ASSISTANT = "assistant: "


@pytest.fixture(scope="module")
def classifier() -> Iterator[OnnxSentenceClassifier]:
    with closing(OnnxSentenceClassifier()) as opened:
        yield opened


async def kept_of_last(classifier: OnnxSentenceClassifier | FakeSentenceClassifier, *messages: str) -> list[str]:
    """The memories of the last message."""
    talk = [
        said(text.removeprefix(ASSISTANT), number, "assistant" if text.startswith(ASSISTANT) else "user")
        for number, text in enumerate(messages, 1)
    ]
    answer = await OfflineProvider(classifier=classifier).extract(slice_of(*talk), knowing())
    return [each.text for each in answer.proposals if talk[-1].message_id in each.message_ids]


@pytest.mark.parametrize("case", CASES["the last message states a fact"], ids=" ".join)
async def test_a_fact_after_a_story_or_a_hypothesis_is_kept(
    classifier: OnnxSentenceClassifier, case: list[str]
) -> None:
    *messages, word = case
    assert any(word in text for text in await kept_of_last(classifier, *messages))


@pytest.mark.parametrize("case", CASES["the last message continues the frame"], ids=" ".join)
async def test_what_continues_a_role_play_a_story_or_a_hypothesis_is_not_kept(
    classifier: OnnxSentenceClassifier, case: list[str]
) -> None:
    assert await kept_of_last(classifier, *case) == []


STORY = "Write a story about a fox."


async def test_a_message_after_a_story_is_classified_after_the_previous_message_and_after_the_request() -> None:
    fake = FakeSentenceClassifier()
    await kept_of_last(fake, STORY, f"{ASSISTANT}Once upon a time.", "I live in Leeds.")
    read = [each.around for each in fake.classified if each.text == "I live in Leeds."]
    assert read == ["Once upon a time. /", f"{STORY} /"]


async def test_a_sentence_is_made_up_if_it_is_after_the_request_alone() -> None:
    class MadeUpAfterRequest(FakeSentenceClassifier):
        async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
            return [UNREAL if each.around.startswith(STORY) else LIMIT for each in sentences]

    assert await kept_of_last(MadeUpAfterRequest(), STORY, f"{ASSISTANT}Hm.", "I am allergic to nuts.") == []
    assert await kept_of_last(MadeUpAfterRequest(), "Thanks!", f"{ASSISTANT}Hm.", "I am allergic to nuts.") != []


async def test_after_a_story_a_sentence_that_adds_to_the_previous_text_is_not_kept() -> None:
    fake = FakeSentenceClassifier({"I also own a ship.": STATEMENT, "I own a ship.": STATEMENT})
    assert await kept_of_last(fake, STORY, "I also own a ship.") == []
    assert await kept_of_last(fake, STORY, "I own a ship.") == ["User owns a ship."]


async def test_a_role_play_hides_what_the_classifier_takes_for_facts() -> None:
    fake = FakeSentenceClassifier({"I own a ship.": STATEMENT})
    assert await kept_of_last(fake, "Let's do a mock interview.", "I own a ship.") == []


async def test_a_story_within_a_role_play_does_not_end_it() -> None:
    fake = FakeSentenceClassifier({"I own a ship.": STATEMENT})
    assert await kept_of_last(fake, "Let's do a mock interview.", STORY, "I own a ship.") == []


async def test_a_fact_about_a_play_opens_no_role_play() -> None:
    fake = FakeSentenceClassifier({"I have a mock interview on Friday.": STATEMENT, "I own a ship.": STATEMENT})
    assert await kept_of_last(fake, "I have a mock interview on Friday.", "I own a ship.") == ["User owns a ship."]


async def test_the_message_that_opens_a_role_play_is_classified_once_however_many_messages_continue_it() -> None:
    fake = FakeSentenceClassifier()
    opener = "Let's do a mock interview. You are the boss."
    await kept_of_last(fake, opener, *(f"I own ship {number}." for number in range(9)))
    assert [each.text for each in fake.classified].count("You are the boss.") == 2, "as an opener and as a message"
