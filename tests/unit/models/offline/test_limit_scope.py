"""Limits of the household are kept whatever the classifier says; one-time limits are not."""

import pytest

from agents.models.offline.provider import OfflineProvider
from agents.models.offline.rules.lasting_instructions.instruction_classes import any_word
from agents.profile.classification import part_of
from tests.builders.memories import a_memory
from tests.builders.slices import knowing, slice_of


async def parts(said: str) -> set[str | None]:
    proposals = (await OfflineProvider().extract(slice_of(said), knowing())).proposals
    stored = (a_memory(each.text, kind=each.kind, tags=each.tags, importance=each.importance) for each in proposals)
    return {part_of(each) for each in stored}


@pytest.mark.parametrize(
    "said",
    [
        "Our baby is allergic to cow's milk",
        "My toddler can't eat nuts",
        "Mein Sohn verträgt keine Nüsse",
        "Meine Kinder vertragen keine Nüsse",
        "Mon fils ne peut pas manger de noix",
        "Ma femme ne peut pas manger de gluten",
        "Mi hijo no puede comer nueces",
        "Mi mujer no puede comer gluten",
        "Mi marido no puede comer marisco",
    ],
)
async def test_the_classifier_does_not_override_a_household_limit_matched_by_a_rule(said: str) -> None:
    assert await parts(said) == {"constraint"}


@pytest.mark.parametrize("said", ["Ma grand-mère ne digère pas le lait", "Mi abuela no tolera la leche"])
async def test_a_limit_of_a_person_outside_the_household_is_not_tagged_as_a_constraint(said: str) -> None:
    proposals = (await OfflineProvider().extract(slice_of(said), knowing())).proposals
    assert [each.tags for each in proposals if "constraint" in each.tags] == []


@pytest.mark.parametrize(
    "said",
    [
        "Wir essen koscher",
        "J'ai une intolérance au lactose",
        "im pregnant",
        "im vegan",
        "im diabetic",
        "Our kids are allergic to peanuts",
        "Our kids can't have peanuts",
        "I've got a heart condition",
        "I'm HIV positive",
        "Ich nehme Marcumar",
        "I can't walk far",
        "cant have dairy",
        "Our daughter reacts to nuts",
        "I get sick from eggs",
        "Meine Tochter reagiert auf Nüsse",
        "I can't take NSAIDs because of my kidneys",
        "Ich kann nicht weit laufen",
        "Tomo Sintrom",
        "je ne tolère pas le lait",
    ],
)
async def test_a_limit_is_recognised_in_every_supported_language(said: str) -> None:
    assert await parts(said) == {"constraint"}


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("We only have an electric stove", "User and others only have an electric stove."),
        ("I don't have a car", "User does not have a car."),
    ],
)
async def test_a_word_that_is_a_conjunction_in_another_language_does_not_split_a_sentence(said: str, text: str) -> None:
    (memory,) = (await OfflineProvider().extract(slice_of(said), knowing())).proposals
    assert memory.text == text


def test_a_wildcard_word_pattern_matches_at_most_30_preceding_letters() -> None:
    assert any_word("*phobi*").search("claustrophobia") is not None
    assert any_word("*phobi*").search(f"{'x' * 40}phobia") is None


@pytest.mark.parametrize("said", ["SELECT * FROM allergies WHERE patient_id = 3;", "DELETE FROM vegans WHERE id = 3;"])
async def test_code_is_not_kept_as_a_statement(said: str) -> None:
    assert await parts(said) == set()


@pytest.mark.parametrize(
    "said",
    [
        "I only have ten minutes",
        "Ich habe nur noch fünf Minuten",
        "Je n'ai que dix minutes",
        "Solo tengo diez minutos",
        "I only have two eggs left",
        "No sugar in the shop again",
        "I can't make it on Thursday, sorry",
        "I can't eat this",
        "I can't drink this tea, it's cold",
        "I can't eat another bite",
        "I'm allergic to Mondays",
        "Ich bin allergisch gegen Montage",
        "Je suis allergique aux lundis",
        "Soy alérgico a los lunes",
        "Never eat yellow snow, haha",
        "Hoy no como carne",
        "Ich esse heute kein Fleisch",
        "Je ne mange pas de viande ce soir",
        "I ate gluten-free pasta yesterday",
        "I don't eat meat tonight",
        "I can't eat now",
        "I can't drive today",
        "I can't do Friday",
        "Ich kann das nicht essen",
        "Ich kann diesen Tee nicht trinken",
        "Ich kann am Donnerstag nicht",
        "Je ne peux pas manger ça",
        "Je ne peux pas jeudi",
        "No puedo comer esto",
        "No puedo el jueves",
        "Ich habe nur noch zwei Eier übrig",
        "Il ne me reste que deux oeufs",
        "Solo me quedan dos huevos",
        "Kein Zucker im Laden",
        "Plus de sucre au magasin",
        "No hay azúcar en la tienda",
        "I'm allergic to meetings, honestly",
    ],
)
async def test_one_off_restrictions_and_jokes_are_not_limits(said: str) -> None:
    assert await parts(said) <= {None}


@pytest.mark.parametrize(
    "said",
    [
        "I can't work on Fridays",
        "I only have ten minutes a day",
        "I only have one kidney left",
        "I can't lift my left arm",
        "I was diagnosed with coeliac disease today",
        "I learned today that I can't eat nuts",
        "I can't eat meat now that I'm pregnant",
        "I can't eat this kind of cheese",
        "No nuts for me haha",
        "lol I'm allergic to nuts",
        "I'm allergic to mustard",
        "Ab heute esse ich kein Fleisch",
        "Seit heute bin ich vegan",
        "Heute habe ich erfahren, dass ich Diabetes habe",
        "Ich darf freitags kein Fleisch essen",
        "Ich habe nur noch eine Niere",
        "Je ne mange pas de viande le vendredi",
        "Aujourd'hui j'ai appris que je suis diabétique",
        "No como carne los viernes",
        "I'm allergic to sun",
        "We don't drive on Saturday, we keep shabbat",
        "I can't eat meat on Friday",
        "No puedo comer carne el viernes",
        "I can't take that medicine",
    ],
)
async def test_recurring_or_newly_discovered_restrictions_are_limits(said: str) -> None:
    assert "constraint" in await parts(said)


@pytest.mark.parametrize(
    "said",
    [
        "I can't eat dairy, so no pizza on Friday",
        "I can't eat gluten, what should I order tonight?",
        "I can't eat nuts, what can I cook today?",
        "I can't eat nuts and I have guests tonight",
        "I can't eat nuts and cook for guests on Friday",
        "Ich esse kein Fleisch, was koche ich heute?",
        "Ich vertrage kein Gluten und habe heute Gäste",
        "Je ne mange pas de porc, que cuisiner ce soir ?",
        "No como carne, ¿qué ceno hoy?",
        "My son can't eat nuts and has a birthday party on Saturday",
        "My son can't eat nuts, his party is on Saturday",
        "I don't drink alcohol, so what should I bring tonight?",
        "I can't drive, so how do I get to the party on Friday?",
        "I don't eat pork, cook something for tonight",
        "I'm allergic to peanuts, not to work",
        "I can't eat gluten and I'm allergic to Mondays",
    ],
)
async def test_a_time_word_in_another_clause_does_not_make_a_limit_temporary(said: str) -> None:
    assert "constraint" in await parts(said)
