"""Statements found by the sentence classifier, with and against the rules."""

import pytest

from agents.models.offline.provider import OfflineProvider
from agents.models.port import Proposal
from schemas.extraction.sentences import SentenceScores
from schemas.policies.policies import Policy
from tests.builders.slices import knowing, slice_of
from tests.fakes.sentence_classifier import (
    LIKELY_STATEMENT,
    LIMIT,
    OTHER,
    STATEMENT,
    UNREAL,
    WISH,
    FakeSentenceClassifier,
)


async def proposals(known: dict[str, SentenceScores], *texts: str) -> tuple[Proposal, ...]:
    provider = OfflineProvider(classifier=FakeSentenceClassifier(known))
    return (await provider.extract(slice_of(*texts), knowing())).proposals


async def memory_texts(known: dict[str, SentenceScores], *texts: str) -> list[str]:
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
        (
            "Pendeln frisst bei mir jeden Tag zwei Stunden.",
            'Der Nutzer sagte: "Pendeln frisst bei mir jeden Tag zwei Stunden".',
        ),
        ("Chez nous, on est cinq avec le bébé.", 'L\'utilisateur a dit : "Chez nous, on est cinq avec le bébé".'),
        ("A mi suegra la cuidamos entre todos.", 'El usuario dijo: "A mi suegra la cuidamos entre todos".'),
    ],
)
async def test_a_classified_statement_is_kept_although_no_rule_matches(sentence: str, text: str) -> None:
    assert await memory_texts({}, sentence) == []
    assert await memory_texts({sentence: STATEMENT}, sentence) == [text]


@pytest.mark.parametrize(
    ("sentence", "is_kept"),
    [
        ("Three goals for our second team on Sunday.", True),
        ("Three goals for Norrby on Sunday.", False),
        ("Drei Tore für unsere Zweite am Sonntag.", True),
        ("Drei Tore für Norrby am Sonntag.", False),
        ("Trois buts pour notre équipe dimanche.", True),
        ("Trois buts pour Norrby dimanche.", False),
        ("Tres goles para nuestro equipo el domingo.", True),
        ("Tres goles para Norrby el domingo.", False),
    ],
)
async def test_a_statement_with_a_moderate_score_is_kept_only_if_the_sentence_names_the_speaker(
    sentence: str, is_kept: bool
) -> None:
    assert bool(await memory_texts({sentence: LIKELY_STATEMENT}, sentence)) is is_kept


async def test_a_classified_statement_that_a_rule_matches_partly_is_kept_whole() -> None:
    sentence = "My godchild is called Jonte, six years old and mad about trains."
    (found,) = await proposals({sentence: STATEMENT}, sentence)
    assert "six years old" in found.text and found.text.startswith("User's godchild")


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Vivo en Soria.", "El usuario vive en Soria."),
        ("Me llamo Rosa.", "El usuario se llama Rosa."),
        ("Me he mudado a Lugo.", "El usuario se ha mudado a Lugo."),
        ("Nos hemos mudado a Murcia.", "El usuario se ha mudado a Murcia."),
    ],
)
async def test_a_short_statement_that_a_rule_reads_is_not_quoted(sentence: str, text: str) -> None:
    assert await memory_texts({sentence: STATEMENT}, sentence) == [text]


async def test_a_sentence_about_the_previous_subject_is_joined_to_the_previous_sentence() -> None:
    first, second = "We adopted a cat.", "She is called Pepper and rules the house."
    (found,) = await proposals({first: STATEMENT, second: STATEMENT}, f"{first} {second}")
    assert "adopted a cat" in found.text and "called Pepper" in found.text


async def test_a_sentence_scored_between_statement_and_limit_is_kept() -> None:
    sentence = "Only weekday mornings for us, I am a postman."
    between = SentenceScores(other=0.03, statement=0.48, limit=0.47, wish=0.01, unreal=0.01)
    (found,) = await proposals({sentence: between}, sentence)
    assert "postman" in found.text


async def test_the_classifier_separates_facts_from_fiction_in_a_writing_task() -> None:
    request, fact, line = "Write a poem for my mother.", "My mother turns 63 and lives in Hove.", "I am a pirate in it."
    known = {fact: STATEMENT, line: UNREAL}
    assert await memory_texts({}, f"{request} {fact} {line}") == []
    assert await memory_texts(known, f"{request} {fact} {line}") == ["User's mother turns 63 and lives in Hove."]


async def test_a_question_classified_as_a_statement_is_dropped() -> None:
    sentence = "Does our commute of an hour each way count?"
    assert await memory_texts({sentence: STATEMENT}, sentence) == []


async def test_a_sentence_classified_as_fiction_is_dropped_even_if_a_rule_matches() -> None:
    sentence = "I live in Rivendell."
    assert await memory_texts({sentence: STATEMENT}, sentence) == ["User lives in Rivendell."]
    assert await memory_texts({sentence: UNREAL}, sentence) == []


async def test_a_sentence_classified_as_chatter_is_dropped_even_if_a_rule_matches() -> None:
    sentence = "I like your second idea."
    assert await memory_texts({sentence: OTHER}, sentence) == []


@pytest.mark.parametrize(("scores", "tag"), [(LIMIT, "constraint"), (WISH, "directive")])
async def test_a_classified_limit_or_wish_is_tagged_although_no_rule_matches(scores: SentenceScores, tag: str) -> None:
    sentence = "Page numbers under each picture."
    assert await memory_texts({}, sentence) == []
    (found,) = await proposals({sentence: scores}, sentence)
    assert tag in found.tags and "age numbers under each picture" in found.text


async def test_dates_of_a_statement_become_absolute() -> None:
    sentence = "Laid off tomorrow, the whole team."
    (found,) = await proposals({sentence: STATEMENT}, sentence)
    assert found.event_time is not None
    assert found.event_time.date().isoformat() in found.text


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Ich wurde auf einem Schiff geboren.", "Der Nutzer wurde auf einem Schiff geboren."),
        ("Ich züchte Alpakas mit meiner Schwester.", "Der Nutzer züchtet Alpakas mit seiner Schwester."),
        ("Je tiens une épicerie avec ma sœur.", "L'utilisateur tient une épicerie avec sa sœur."),
    ],
)
async def test_a_first_person_sentence_is_rewritten_in_the_third_person(sentence: str, text: str) -> None:
    assert await memory_texts({sentence: LIMIT}, sentence) == [text]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ich arbeite als Koch in Ulm.", "Dieses Jahr ziehe ich mit meiner Frau nach Graz."),
        ("J'ai un chat du refuge.", "Ça fait dix ans que je vis à Lyon."),
        ("Tengo un gato.", "Es mi hermana la que lleva la tienda."),
    ],
)
async def test_a_sentence_about_the_speaker_is_not_joined_to_the_previous_sentence(first: str, second: str) -> None:
    found = await memory_texts({first: STATEMENT, second: STATEMENT}, f"{first} {second}")
    assert len(found) == 2


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Den Garten haben wir als Wildwiese geplant.", "plan"),
        ("Ma fille s'appelle Zoé, elle va au lycée.", "fact"),
        ("Mon compte est chez BNP, comme celui de ma femme.", "fact"),
        ("A mi suegra vamos a visitarla en otoño.", "plan"),
        ("Für uns gibt es nichts Besseres, wir lieben Fondue.", "preference"),
    ],
)
async def test_the_kind_of_a_classified_statement_is_derived_from_its_words(sentence: str, kind: str) -> None:
    (found,) = await proposals({sentence: STATEMENT}, sentence)
    assert found.kind == kind


@pytest.mark.parametrize(
    "sentence",
    ["Bei uns ist seit der Scheidung alles traurig.", "Chez moi, depuis le divorce, tout est triste."],
)
async def test_feelings_in_german_and_french_are_dropped(sentence: str) -> None:
    assert await memory_texts({sentence: STATEMENT}, sentence) == []


async def test_a_quoted_limit_contains_no_inner_double_quotation_marks() -> None:
    sentence = 'Bei uns isst niemand was mit "Spuren von Nüssen", wegen der Kleinen.'
    (found,) = await memory_texts({sentence: LIMIT}, sentence)
    assert found.count('"') == 2


@pytest.mark.parametrize("scores", [STATEMENT, LIMIT])
async def test_reported_speech_of_another_person_is_not_attributed_to_the_user(scores: SentenceScores) -> None:
    sentence = "My tutor told me: I am allergic to nuts."
    assert await memory_texts({sentence: scores}, sentence) == []


async def test_a_limit_matched_by_a_rule_is_kept_although_the_sentence_is_classified_as_chatter() -> None:
    sentence = "I cannot eat dairy."
    (found,) = await proposals({sentence: OTHER}, sentence)
    assert "dairy" in found.text


@pytest.mark.parametrize(("limit", "is_kept"), [(0.6, True), (0.1, False)])
async def test_a_possibly_fictional_sentence_is_kept_only_if_its_limit_score_is_high(
    limit: float, is_kept: bool
) -> None:
    sentence = "Remember that I cannot eat dairy."
    scores = SentenceScores(other=0.7 - limit, statement=0.0, limit=limit, wish=0.0, unreal=0.3)
    assert bool(await memory_texts({sentence: scores}, sentence)) is is_kept


async def test_a_sentence_matched_by_a_rule_is_not_joined_to_the_previous_sentence() -> None:
    first, second = "I live in Leeds.", "There I work as a nurse."
    found = await memory_texts({first: STATEMENT, second: STATEMENT}, f"{first} {second}")
    assert len(found) == 2


async def test_nothing_is_joined_across_a_sentence_with_a_secret() -> None:
    first, second = "We adopted a cat.", "It is used for my bank."
    text = f"{first} My password is EXAMPLE-not-real-1. {second}"
    assert await memory_texts({first: STATEMENT, second: STATEMENT}, text) == await memory_texts(
        {first: STATEMENT}, first
    )


async def test_feelings_are_left_out_unless_the_policy_wants_them() -> None:
    sentence = "Been lonely ever since the divorce."
    assert await memory_texts({sentence: STATEMENT}, sentence) == []
    provider = OfflineProvider(classifier=FakeSentenceClassifier({sentence: STATEMENT}))
    (found,) = (await provider.extract(slice_of(sentence), knowing(policy=Policy(name="p", feelings=True)))).proposals
    assert "lonely" in found.text


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        (STATEMENT, "I can't eat anything spicy today, lol."),
        (LIMIT, "Today I cannot eat anything because of the blood test."),
    ],
)
async def test_a_limit_that_holds_for_one_day_is_not_tagged_as_a_constraint(
    scores: SentenceScores, sentence: str
) -> None:
    assert not any("constraint" in each.tags for each in await proposals({sentence: scores}, sentence))


async def test_double_quotation_marks_inside_a_quoted_statement_become_single() -> None:
    sentence = 'Quick motto: "eat the peel".'
    (found,) = await memory_texts({sentence: STATEMENT}, sentence)
    assert found == "User said: \"Quick motto: 'eat the peel'\"."
