"""Statements that the classifier of sentences finds, beside the rules and against them."""

from collections.abc import Sequence

import pytest

from agents.models.offline.provider import OfflineProvider
from agents.models.port import Proposal
from schemas.extraction.sentences import Sentence, SentenceScores
from tests.fakes.sentence_classifier import LIMIT, OTHER, STATEMENT, UNREAL, WISH, FakeSentenceClassifier
from tests.slices import knowing, said, slice_of


async def proposals(known: dict[str, SentenceScores], *texts: str) -> tuple[Proposal, ...]:
    provider = OfflineProvider(classifier=FakeSentenceClassifier(known))
    return (await provider.extract(slice_of(*texts), knowing())).proposals


async def told(known: dict[str, SentenceScores], *texts: str) -> list[str]:
    return [each.text for each in await proposals(known, *texts)]


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("My commute eats an hour each way.", "User's commute eats an hour each way."),
        (
            "Quick intro: junior developer at Nordby, mostly Kotlin.",
            'User said: "Quick intro: junior developer at Nordby, mostly Kotlin".',
        ),
        ("gave the bus up in may", 'User said: "Gave the bus up in may".'),
    ],
)
async def test_a_statement_that_no_rule_reads_is_kept(sentence: str, text: str) -> None:
    assert await told({}, sentence) == []
    assert await told({sentence: STATEMENT}, sentence) == [text]


async def test_a_statement_that_a_rule_reads_in_part_is_kept_whole() -> None:
    sentence = "My godchild is called Jonte, six years old and mad about trains."
    (found,) = await proposals({sentence: STATEMENT}, sentence)
    assert "six years old" in found.text and found.text.startswith("User's godchild")


async def test_a_sentence_about_the_subject_of_the_one_before_goes_with_it() -> None:
    first, second = "We adopted a cat.", "She is called Pepper and rules the house."
    (found,) = await proposals({first: STATEMENT, second: STATEMENT}, f"{first} {second}")
    assert "adopted a cat" in found.text and "called Pepper" in found.text


async def test_a_sentence_whose_subject_nobody_names_is_left_out() -> None:
    sentence = "She is called Pepper and rules the house."
    assert await told({sentence: STATEMENT}, sentence) == []


async def test_a_question_is_no_statement() -> None:
    sentence = "Does our commute of an hour each way count?"
    assert await told({sentence: STATEMENT}, sentence) == []


async def test_what_is_made_up_is_left_out_whatever_rules_read() -> None:
    sentence = "I live in Rivendell."
    assert await told({sentence: STATEMENT}, sentence) == ["User lives in Rivendell."]
    assert await told({sentence: UNREAL}, sentence) == []


async def test_chatter_is_left_out_whatever_rules_read() -> None:
    sentence = "I like your second idea."
    assert await told({sentence: OTHER}, sentence) == []


@pytest.mark.parametrize(("scores", "tag"), [(LIMIT, "constraint"), (WISH, "directive")])
async def test_a_limit_or_wish_that_no_rule_reads_has_its_tag(scores: SentenceScores, tag: str) -> None:
    sentence = "Page numbers with each quote."
    assert await told({}, sentence) == []
    (found,) = await proposals({sentence: scores}, sentence)
    assert tag in found.tags and "age numbers with each quote" in found.text


async def test_dates_of_a_statement_become_absolute() -> None:
    sentence = "Laid off tomorrow, the whole team."
    (found,) = await proposals({sentence: STATEMENT}, sentence)
    assert found.event_time is not None
    assert found.event_time.date().isoformat() in found.text


async def test_the_classifier_is_given_what_was_said_around_a_sentence() -> None:
    classifier = FakeSentenceClassifier()
    request = slice_of(said("Where do you live?", role="assistant"), "Thanks. Near Ghent. It is tiny.")
    await OfflineProvider(classifier=classifier).extract(request, knowing())
    assert classifier.asked[1] == Sentence("Where do you live? / Thanks. … It is tiny.", "Near Ghent.")


async def test_languages_that_the_classifier_does_not_read_are_left_to_the_rules() -> None:
    classifier = FakeSentenceClassifier()
    answer = await OfflineProvider(classifier=classifier).extract(slice_of("Ich wohne in Berlin."), knowing())
    assert classifier.asked == []
    assert [each.text for each in answer.proposals] == ["Der Nutzer wohnt in Berlin."]


async def test_the_classifier_is_closed_with_the_provider() -> None:
    classifier = FakeSentenceClassifier()
    await OfflineProvider(classifier=classifier).close()
    assert classifier.closed


class BrokenClassifier(FakeSentenceClassifier):
    async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
        raise RuntimeError("out of memory")


async def test_the_rules_alone_read_a_message_if_the_classifier_fails(caplog: pytest.LogCaptureFixture) -> None:
    provider = OfflineProvider(classifier=BrokenClassifier())
    answer = await provider.extract(slice_of("I live in Turin."), knowing())
    assert [each.text for each in answer.proposals] == ["User lives in Turin."]
    assert "the rules alone read them" in caplog.text
