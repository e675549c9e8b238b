"""The classifier of limits and wishes on sentences that it was not trained on."""

import pytest

from agents.models.offline.provider import OfflineProvider
from agents.models.offline.rules.lasting_instructions.classifier import MEMORY_LABELS, Scores, model, scores
from agents.profile.classification import part_of
from tests.benchmarks.standing.sentences import files, sentences
from tests.benchmarks.standing.train import hash_of
from tests.builders.memories import a_memory
from tests.builders.slices import knowing, slice_of

LIMITS = (
    "I can't eat anything with pecans in it",
    "my skin swells from avocado",
    "we don't have a microwave, only a stove",
    "Ich vertrage keine Paprika",
    "je ne digère pas les poivrons",
    "no puedo comer pimientos",
)
WISHES = (
    "In every reply, add a source.",
    "À partir de maintenant, réponds en français",
    "en cada respuesta da la página",
)
NEITHER = (
    "my cousin can't eat anything with pecans in it",
    "I'm allergic to spreadsheets",
    "if I were allergic to pecans I'd be careful",
    "in this reply add a source",
    "nur diese Mail auf Deutsch bitte",
    "cette fois réponds en français",
    "I only have one cousin",
    "No, I don't.",
    "write a song about a man who never flies",
    "Return only the code",
    "Only the number please",
    "Just the code, no explanation",
    "Give only the answer",
    "Bitte nur den Code",
    "Nur die Antwort bitte",
)


async def tags(said: str) -> set[str]:
    proposals = (await OfflineProvider().extract(slice_of(said), knowing())).proposals
    return {tag for each in proposals for tag in each.tags} & {"directive", "constraint"}


def test_shipped_weights_were_trained_on_the_current_sentences_and_word_classes() -> None:
    trained_on = hash_of(path.read_bytes() for path in files())
    assert model().trained_on == trained_on, "run `make train-standing`"


def test_no_test_sentence_is_in_the_training_data() -> None:
    learnt = {each.text.casefold().rstrip(".") for each in sentences()}
    assert learnt.isdisjoint(said.casefold().rstrip(".") for said in (*LIMITS, *WISHES, *NEITHER))


@pytest.mark.parametrize("said", LIMITS)
async def test_a_limit_without_a_word_of_a_known_class_is_kept_as_a_constraint(said: str) -> None:
    proposals = (await OfflineProvider().extract(slice_of(said), knowing())).proposals
    stored = [a_memory(each.text, kind=each.kind, tags=each.tags, importance=each.importance) for each in proposals]
    assert "constraint" in {part_of(each) for each in stored}


@pytest.mark.parametrize("said", WISHES)
async def test_a_standing_wish_is_tagged_as_a_directive(said: str) -> None:
    assert await tags(said) == {"directive"}


@pytest.mark.parametrize("said", NEITHER)
async def test_text_that_only_resembles_a_limit_or_a_wish_gets_no_tag(said: str) -> None:
    assert await tags(said) == set()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Nenn mich nie wieder Kleiner", 'Der Nutzer sagte: "Nenn mich nie wieder Kleiner".'),
        ("appelle-moi toujours Zoé", 'L\'utilisateur a dit : "Appelle-moi toujours Zoé".'),
        ("always call me Zoe", "User wants the assistant to always call them Zoe."),
    ],
)
async def test_an_order_about_the_user_is_quoted_if_its_verb_would_have_to_change(said: str, text: str) -> None:
    (memory,) = (await OfflineProvider().extract(slice_of(said), knowing())).proposals
    assert memory.text == text


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("User has no elevator.", "constraint"),
        ("User does not have a car.", None),
        ("User is no longer vegetarian.", None),
        ("User bought a car.", None),
    ],
)
def test_the_profile_recognises_a_limit_with_the_trained_classifier(text: str, part: str | None) -> None:
    assert part_of(a_memory(text)) == part


def test_a_text_without_known_words_is_scored_as_neither_limit_nor_wish() -> None:
    assert scores("", "en", MEMORY_LABELS).either < 0.5
    assert Scores(0.25, 0.5).either == 0.75
