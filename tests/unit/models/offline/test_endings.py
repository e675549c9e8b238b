"""Sentences of users that state nothing lasting, but end a memory."""

from collections.abc import Sequence

import pytest

from agents.models.offline.endings import MOST_SENTENCES
from agents.models.offline.provider import OfflineProvider
from schemas.extraction.relations import Pair, Relation
from schemas.extraction.sentences import SentenceScores
from tests.fakes.comparer import ENDS, IN_PART, FakeComparer
from tests.fakes.sentence_classifier import OTHER, STATEMENT, UNREAL, FakeSentenceClassifier
from tests.memories import a_memory
from tests.slices import knowing, slice_of

TRIP = 'User said: "Iceland in September with Jule".'
WORDS_OF_TRIP = "Iceland in September with Jule."
OFF = "The Iceland trip is off."


async def proposed(
    sentence: str, comparer: FakeComparer, scores: SentenceScores = OTHER, related: Sequence[str] = (TRIP,)
) -> list[str]:
    provider = OfflineProvider(classifier=FakeSentenceClassifier({sentence: scores}), comparer=comparer)
    answer = await provider.extract(slice_of(sentence), knowing(*(a_memory(text) for text in related)))
    return [each.text for each in answer.proposals]


@pytest.mark.parametrize("relation", [ENDS, IN_PART])
async def test_a_sentence_that_ends_a_memory_is_kept_as_a_quotation(relation: Relation) -> None:
    comparer = FakeComparer({(WORDS_OF_TRIP, OFF): relation})
    assert await proposed(OFF, comparer) == ['User said: "The Iceland trip is off".']


async def test_a_sentence_that_ends_no_memory_is_not_kept() -> None:
    comparer = FakeComparer()
    assert await proposed(OFF, comparer) == []
    assert comparer.asked == [Pair(WORDS_OF_TRIP, OFF)]


@pytest.mark.parametrize(
    ("sentence", "scores"),
    [
        ("Is the Iceland trip off?", OTHER),
        (OFF, UNREAL),
        ("He is off then.", OTHER),
        ("I live in Iceland now.", STATEMENT),
    ],
)
async def test_questions_fiction_and_statements_that_are_kept_anyway_are_not_compared(
    sentence: str, scores: SentenceScores
) -> None:
    comparer = FakeComparer()
    await proposed(sentence, comparer, scores)
    assert comparer.asked == []


async def test_only_memories_in_languages_of_the_comparer_are_compared() -> None:
    comparer = FakeComparer()
    await proposed(OFF, comparer, related=("De gebruiker gaat in september naar IJsland met Jule.",))
    assert comparer.asked == []


async def test_the_comparer_is_asked_once_for_a_slice_about_a_limited_number_of_sentences() -> None:
    comparer, calls = FakeComparer(), list[int]()

    class Counting(FakeComparer):
        async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
            calls.append(len(pairs))
            return await comparer.compare(pairs)

    messages = [
        f"The trip number {number} is off. The boat number {number} is sold." for number in range(MOST_SENTENCES)
    ]
    provider = OfflineProvider(classifier=FakeSentenceClassifier(), comparer=Counting())
    await provider.extract(slice_of(*messages), knowing(a_memory(TRIP)))
    assert calls == [MOST_SENTENCES]


async def test_without_related_memories_nothing_is_compared() -> None:
    comparer = FakeComparer()
    await proposed(OFF, comparer, related=())
    assert comparer.asked == []


async def test_extraction_keeps_no_endings_if_the_comparer_fails(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(FakeComparer):
        async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
            raise RuntimeError("out of memory")

    assert await proposed(OFF, Broken()) == []
    assert "comparing 1 pairs of statements failed" in caplog.text


async def test_the_comparer_is_closed_with_the_provider() -> None:
    comparer = FakeComparer()
    await OfflineProvider(comparer=comparer).close()
    assert comparer.closed
