"""Input of the sentence classifier: sentences with context; the rules work without it if it fails."""

from collections.abc import Sequence

import pytest

from agents.models.offline.findings import findings_in, parse
from agents.models.offline.provider import OfflineProvider
from agents.models.offline.rules.findings.classified_statements import ONE_SPEAKER, SEVERAL_SPEAKERS, Thresholds
from schemas.extraction.sentences import Sentence, SentenceScores
from tests.builders.slices import knowing, said, slice_of
from tests.fakes.sentence_classifier import LIMIT, OTHER, STATEMENT, UNREAL, WISH, FakeSentenceClassifier


def test_rules_detect_fiction_among_sentences_without_classifier_scores() -> None:
    text = "Thanks for that. Write a poem about a pirate. I live on a ship in Hove."
    assert list(findings_in(parse(said(text)), scores=(OTHER, None, None))) == []
    assert (
        list(findings_in(parse(said("Thanks for that. Hm, well. I live in Hove.")), scores=(OTHER, None, None))) != []
    )


async def test_a_sentence_that_ends_with_a_number_is_split_from_the_next_sentence() -> None:
    first, second = "Our lease in Tacoma starts aug 1.", "what do I do about the internet?"
    classifier = FakeSentenceClassifier({first: STATEMENT})
    await OfflineProvider(classifier=classifier).extract(slice_of(f"{first} {second}"), knowing())
    assert [each.text for each in classifier.classified] == [first, second]


async def test_a_german_ordinal_ends_no_sentence() -> None:
    classifier = FakeSentenceClassifier()
    await OfflineProvider(classifier=classifier).extract(slice_of("Wir ziehen am 3. mai um."), knowing())
    assert [each.text for each in classifier.classified] == ["Wir ziehen am 3. mai um."]


async def test_the_classifier_receives_the_surrounding_context_of_a_sentence() -> None:
    classifier = FakeSentenceClassifier()
    request = slice_of(said("Where do you live?", role="assistant"), "Thanks. Near Ghent. It is tiny.")
    await OfflineProvider(classifier=classifier).extract(request, knowing())
    assert classifier.classified[1] == Sentence("Where do you live? / Thanks. … It is tiny.", "Near Ghent.")


async def test_messages_in_languages_without_rules_are_not_classified() -> None:
    classifier = FakeSentenceClassifier()
    answer = await OfflineProvider(classifier=classifier).extract(slice_of("Ik woon met mijn zus in Gent."), knowing())
    assert classifier.classified == []
    assert answer.proposals == ()


async def test_the_classifier_is_closed_with_the_provider() -> None:
    classifier = FakeSentenceClassifier()
    await OfflineProvider(classifier=classifier).close()
    assert classifier.closed


class BrokenClassifier(FakeSentenceClassifier):
    async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
        raise RuntimeError("out of memory")


async def test_extraction_falls_back_to_the_rules_if_the_classifier_fails(caplog: pytest.LogCaptureFixture) -> None:
    provider = OfflineProvider(classifier=BrokenClassifier())
    answer = await provider.extract(slice_of("I live in Turin."), knowing())
    assert [each.text for each in answer.proposals] == ["User lives in Turin."]
    assert "the rules alone read them" in caplog.text


async def test_a_repeated_sentence_is_judged_separately_at_each_position() -> None:
    class InTurn(FakeSentenceClassifier):
        async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
            return [STATEMENT, OTHER, UNREAL][: len(sentences)]

    provider = OfflineProvider(classifier=InTurn())
    answer = await provider.extract(slice_of("I live in Leeds. Nice, eh. I live in Leeds."), knowing())
    assert [each.text for each in answer.proposals] == ["User lives in Leeds."]


def tags(text: str, scores: SentenceScores, thresholds: Thresholds) -> list[str]:
    return [
        tag for _, each in findings_in(parse(said(text)), scores=(scores,), thresholds=thresholds) for tag in each.tags
    ]


def test_one_person_sets_a_limit_in_words_that_no_class_has() -> None:
    assert tags("Charcoal for my burgers from me.", LIMIT, ONE_SPEAKER) == ["constraint"]


def test_among_several_people_a_limit_or_wish_needs_a_word_of_its_class() -> None:
    assert tags("Charcoal for my burgers from me.", LIMIT, SEVERAL_SPEAKERS) == []
    assert tags("Send me the pictures.", WISH, SEVERAL_SPEAKERS) == []
    assert tags("I'm coeliac, so please no bread.", LIMIT, SEVERAL_SPEAKERS) == ["constraint"]


def texts(text: str, scores: SentenceScores, thresholds: Thresholds) -> list[str]:
    return [each.text for _, each in findings_in(parse(said(text)), scores=(scores,), thresholds=thresholds)]


@pytest.mark.parametrize("scores", [STATEMENT, LIMIT])
@pytest.mark.parametrize("thresholds", [ONE_SPEAKER, SEVERAL_SPEAKERS])
def test_a_proposal_beside_a_statement_is_left_out(scores: SentenceScores, thresholds: Thresholds) -> None:
    found = texts("I'm vegetarian, so let's pick a place with good vegetables.", scores, thresholds)
    assert found == ["User is vegetarian."]


def test_among_several_people_you_is_not_the_assistant() -> None:
    beside = "I live in Antwerp, so I join you in Brussels."
    assert texts(beside, STATEMENT, SEVERAL_SPEAKERS) == ["User lives in Antwerp."]
    assert texts(beside, STATEMENT, ONE_SPEAKER) == ["User lives in Antwerp, so they join the assistant in Brussels."]
    alone = "I commute with you from Antwerp."
    assert texts(alone, STATEMENT, SEVERAL_SPEAKERS) == ['User said: "I commute with you from Antwerp".']
