"""The sentence classifier detects statements, limits, wishes, fiction and chatter."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from schemas.extraction.sentences import Sentence, SentenceScores, in_context
from sinks.classification.sentences import OnnxSentenceClassifier
from tests.benchmarks.classification.messages import hash_of_files

SORTS = (
    ("statement", "We adopted a greyhound called Miso in April."),
    ("statement", "moved to Leeds last spring"),
    ("limit", "I'm allergic to hazelnuts"),
    ("limit", "type 1 diabetic since I was nine"),
    ("wish", "from now on answer in Dutch please"),
    ("wish", "always use metric units"),
    ("statement", "Meine Schwester und ich haben eine Bäckerei in Passau."),
    ("statement", "on a adopté un lévrier qui s'appelle Miso"),
    ("statement", "mi hija mayor estudia enfermería en Murcia"),
    ("limit", "Ich vertrage keine Haselnüsse"),
    ("limit", "je suis diabétique de type 1 depuis mes neuf ans"),
    ("limit", "soy alérgico a los frutos secos"),
    ("wish", "antworte mir ab jetzt immer auf Niederländisch"),
    ("wish", "utilise toujours le système métrique"),
    ("wish", "de ahora en adelante háblame de usted"),
    ("other", "wie heißt der höchste Berg in Peru?"),
    ("other", "mdr n'importe quoi"),
    ("other", "hazlo más corto"),
    ("other", "what's a good name for a boat?"),
    ("other", "haha no way"),
    ("other", "make it shorter"),
)


@pytest.fixture(scope="module")
def classifier() -> Iterator[OnnxSentenceClassifier]:
    with closing(OnnxSentenceClassifier()) as made:
        yield made


@pytest.mark.parametrize(("sort", "text"), SORTS)
async def test_classifier_gives_the_expected_class_the_highest_score(
    classifier: OnnxSentenceClassifier, sort: str, text: str
) -> None:
    (found,) = await classifier.classify([Sentence("", text)])
    assert found is not None
    assert max(found._asdict().items(), key=lambda each: each[1])[0] == sort


async def test_fictional_context_raises_the_unreal_score_of_a_statement(classifier: OnnxSentenceClassifier) -> None:
    said = ["Let's play a game: I'm a smuggler called Zed.", "I lost my left hand in a duel."]
    in_place = list(in_context("", said))
    alone, framed = await classifier.classify([Sentence("", said[1]), in_place[1]])
    assert alone is not None and framed is not None
    assert framed.unreal > alone.unreal


async def test_scores_do_not_depend_on_the_sentences_of_the_batch(classifier: OnnxSentenceClassifier) -> None:
    sentences = [*(Sentence("", text) for _, text in SORTS), Sentence("", "")]
    together = np.array(await classifier.classify(sentences))
    alone = np.array([(await classifier.classify([each]))[0] for each in sentences])
    assert together.shape == (len(sentences), len(SentenceScores._fields))
    np.testing.assert_allclose(together, alone, atol=1e-4)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-5)


async def test_a_sentence_that_is_too_long_to_be_read_whole_has_no_scores(classifier: OnnxSentenceClassifier) -> None:
    assert await classifier.classify([Sentence("", "I live in Berlin, and " * 100)]) == [None]


async def test_context_is_shortened_when_sentence_and_context_exceed_the_input_length(
    classifier: OnnxSentenceClassifier,
) -> None:
    said = [
        f"On day {day} of the trip we walked from one village to the next, {day + 9} kilometres." for day in range(9)
    ]
    assert None not in await classifier.classify(list(in_context("How was the trip?", said)))


def test_shipped_model_was_trained_on_the_current_training_messages(classifier: OnnxSentenceClassifier) -> None:
    assert classifier.trained_on == hash_of_files(), "run `make train-sentences`"


async def test_classifying_an_empty_list_returns_an_empty_list(classifier: OnnxSentenceClassifier) -> None:
    assert await classifier.classify([]) == []
