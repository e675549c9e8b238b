"""Statements with a pronoun as subject are kept with the preceding sentence."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from agents.curation.rules.conflicts.conflicts import conflict
from agents.models.offline.provider import OfflineProvider
from agents.profile.classification import part_of
from schemas.extraction.requests import SliceMessage
from schemas.extraction.sentences import Sentence, SentenceScores
from tests.builders.slices import MONDAY, knowing, known, said, slice_of
from tests.fakes.sentence_classifier import LIKELY_STATEMENT, OTHER, STATEMENT, UNREAL, FakeSentenceClassifier

BEFORE = "Guess who moved in with us!"
PEPPER = "She is called Pepper."
TALK = SentenceScores(other=0.7, statement=0.2, limit=0.0, wish=0.0, unreal=0.1)  # between chatter and a statement


async def memories(known_scores: dict[str, SentenceScores], *messages: SliceMessage | str) -> list[str]:
    provider = OfflineProvider(classifier=FakeSentenceClassifier(known_scores))
    return [each.text for each in (await provider.extract(slice_of(*messages), knowing())).proposals]


@pytest.mark.parametrize(
    ("before", "sentence", "memory"),
    [
        (BEFORE, PEPPER, f'User said: "She is called Pepper" (about: {BEFORE}).'),
        (
            "Wir haben wieder Leben im Haus!",
            "Sie heißt Mizzi.",
            'Der Nutzer sagte: "Sie heißt Mizzi" (zu: Wir haben wieder Leben im Haus!).',
        ),
        (
            "Devinez qui vient vivre chez nous !",
            "Elle s'appelle Minou.",
            "L'utilisateur a dit : \"Elle s'appelle Minou\" (à propos de: Devinez qui vient vivre chez nous !).",
        ),
        (
            "¡Adivina quién vive con nosotros!",
            "Se llama Luna, qué bonita.",
            'El usuario dijo: "Se llama Luna, qué bonita" (sobre: ¡Adivina quién vive con nosotros!).',
        ),
    ],
)
async def test_a_pronoun_is_kept_with_the_sentence_before_it(before: str, sentence: str, memory: str) -> None:
    assert await memories({before: TALK, sentence: STATEMENT}, f"{before} {sentence}") == [memory]


async def test_relative_dates_of_the_sentence_before_become_dates() -> None:
    before = "Guess who moved in yesterday!"
    (memory,) = await memories({before: TALK, PEPPER: STATEMENT}, f"{before} {PEPPER}")
    assert "2026-03-01" in memory and "yesterday" not in memory


@pytest.mark.parametrize("sentence", [PEPPER, "Sie heißt Mizzi, drei Jahre alt."])
async def test_a_pronoun_without_a_sentence_before_it_in_the_message_is_left_out(sentence: str) -> None:
    assert await memories({sentence: STATEMENT}, BEFORE, said(sentence, 2)) == []


@pytest.mark.parametrize("scores", [LIKELY_STATEMENT, OTHER, UNREAL])
async def test_a_pronoun_in_a_sentence_that_is_no_certain_statement_is_left_out(scores: SentenceScores) -> None:
    assert await memories({BEFORE: TALK, PEPPER: scores}, f"{BEFORE} {PEPPER}") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "That is so typical.",
        "The second one looks nice.",
        "She is called Pepper?",
        "She is a wizard in our D&D game.",
        "She is so lonely and sad.",
    ],
)
async def test_demonstratives_questions_games_and_feelings_are_left_out(sentence: str) -> None:
    assert await memories({BEFORE: TALK, sentence: STATEMENT}, f"{BEFORE} {sentence}") == []


@pytest.mark.parametrize(
    ("before", "scores"),
    [
        ("Once there was a dragon.", UNREAL),
        ("Thanks a lot for that.", OTHER),
        ("Been so lonely since the divorce.", TALK),
        ("My tutor told me: I am ill.", TALK),
        ("Mia!", TALK),
    ],
)
async def test_fiction_chatter_feelings_hearsay_and_single_words_are_no_context(
    before: str, scores: SentenceScores
) -> None:
    assert await memories({before: scores, PEPPER: STATEMENT}, f"{before} {PEPPER}") == []


async def test_a_pronoun_behind_a_sentence_with_a_secret_is_left_out() -> None:
    text = f"{BEFORE} My password is EXAMPLE-not-real-1. {PEPPER}"
    assert await memories({BEFORE: TALK, PEPPER: STATEMENT}, text) == []


@pytest.mark.parametrize(
    ("memory", "before", "sentence"),
    [
        (
            'User said: "She is 4 now" (about: Guess who moved in with us!).',
            "Let me tell of the niece!",
            "She is 7 now.",
        ),
        (
            'Der Nutzer sagte: "Sie heißt Mizzi" (zu: Wir haben wieder Leben im Haus!).',
            "Jetzt zur Nichte nebenan!",
            "Sie heißt Anna Maria.",
        ),
    ],
)
async def test_pronouns_about_different_things_neither_repeat_nor_contradict_each_other(
    memory: str, before: str, sentence: str
) -> None:
    provider = OfflineProvider(classifier=FakeSentenceClassifier({before: TALK, sentence: STATEMENT}))
    (found,) = (await provider.extract(slice_of(f"{before} {sentence}"), knowing(memory))).proposals
    assert (found.repeats, found.contradicts) == (None, None)
    assert conflict(found.text, memory) is None


def test_the_profile_does_not_read_the_context_of_a_memory() -> None:
    assert part_of(known('User said: "She lives in Oslo" (about: She is allergic to nuts!).')) is None


HYPOTHESIS = "Let's assume from now on that I am a pilot."


async def test_a_hypothesis_hides_no_later_message_that_is_classified() -> None:
    later = said("I live in Oslo.", 2, at=MONDAY + timedelta(minutes=1))
    assert await memories({HYPOTHESIS: UNREAL, later.content: STATEMENT}, HYPOTHESIS, later) == ["User lives in Oslo."]


async def test_a_hypothesis_hides_later_messages_if_the_classifier_fails() -> None:
    class Broken(FakeSentenceClassifier):
        async def classify(self, sentences: Sequence[Sentence]) -> list[SentenceScores | None]:
            raise RuntimeError("out of memory")

    later = said("I live in Oslo.", 2, at=MONDAY + timedelta(minutes=1))
    answer = await OfflineProvider(classifier=Broken()).extract(slice_of(HYPOTHESIS, later), knowing())
    assert answer.proposals == ()
