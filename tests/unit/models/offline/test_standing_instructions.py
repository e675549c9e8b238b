"""Limits and standing wishes in any form, by word classes; similar sentences are ignored."""

import pytest

from agents.models.offline.provider import OfflineProvider
from agents.models.port import Proposal
from agents.profile.classification import part_of
from schemas.profile.profiles import Part
from tests.builders.memories import a_memory
from tests.builders.slices import knowing, slice_of


def part(memory: Proposal) -> Part | None:
    """The part of the profile that it gets into."""
    stored = a_memory(memory.text, kind=memory.kind, tags=memory.tags, importance=memory.importance)
    return part_of(stored)


async def kept(said: str) -> tuple[Proposal, ...]:
    return (await OfflineProvider().extract(slice_of(said), knowing())).proposals


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("shellfish = instant hospital trip for me", 'User said: "Shellfish = instant hospital trip for me".'),
        ("I'm on blood thinners", "User is on blood thinners."),
        ("one glass of wine max, liver", 'User said: "One glass of wine max, liver".'),
        ("can't do stairs since the accident", 'User said: "Cannot do stairs since the accident".'),
        ("cardiologist says no caffeine after noon", 'User said: "Cardiologist says no caffeine after noon".'),
        (
            "screen reader user here, images need alt text",
            'User said: "Screen reader user here, images need alt text".',
        ),
        ("pregnant, 14 weeks!", "User is pregnant (14 weeks)."),
        (
            "höchstens zwei Tassen Kaffee, sagt der Arzt",
            'Der Nutzer sagte: "Höchstens zwei Tassen Kaffee, sagt der Arzt".',
        ),
        ("pas de porc à la maison", 'L\'utilisateur a dit : "Pas de porc à la maison".'),
        ("máximo dos cervezas por semana, el hígado", 'El usuario dijo: "Máximo dos cervezas por semana, el hígado".'),
    ],
)
async def test_a_limit_in_a_form_that_no_rule_parses_is_kept_in_the_users_words(said: str, text: str) -> None:
    (memory,) = await kept(said)
    assert (memory.text, memory.tags) == (text, ("constraint",))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("could you always answer in Dutch?", "User wants the assistant to always answer in Dutch."),
        ("can you please stop using emojis?", "User does not want emojis."),
        ("your answers should be short", "User wants: your answers should be short."),
        ("from today on only vegetarian recipes please", "User wants: from today on only vegetarian recipes."),
        ("when I ask about food, give me the prices", "User wants: when I ask about food, give me the prices."),
        ("be blunt with me", "User wants: be blunt with me."),
        ("British spelling please", "User wants: British spelling."),
        ("skip the disclaimers", "User wants the assistant to skip the disclaimers."),
        ("immer mit Preisen in Euro", "Wunsch des Nutzers: immer mit Preisen in Euro."),
        ("peux-tu toujours donner les prix ?", "Souhait de l'utilisateur : toujours donner les prix."),
        ("a partir de ahora respuestas cortas", "Deseo del usuario: a partir de ahora respuestas cortas."),
    ],
)
async def test_a_standing_wish_is_kept_in_any_polite_or_direct_wording(said: str, text: str) -> None:
    (memory,) = await kept(said)
    assert (memory.text, memory.tags) == (text, ("directive",))


@pytest.mark.parametrize(
    "said",
    [
        "mushrooms make me gag",
        "spicy food is torture for my stomach",
        "expecting in May, 5 months pregnant now, which cheese can I eat?",
        "Peanut alergy over here!",
        "Süßstoff bekommt mir nicht",
        "Ich hab keinen Führerschein",
        "le lait me rend malade",
        "no tengo coche ni carnet",
        "les tengo pánico a los perros",
    ],
)
async def test_a_limit_is_recognised_by_its_form_regardless_of_topic(said: str) -> None:
    (memory,) = await kept(said)
    assert part(memory) == "constraint"


@pytest.mark.parametrize(
    "said",
    [
        "number the steps every time please",
        "prices incl. VAT from now on",
        "Give me the recipe in grams. Always.",
        "du kannst mich ruhig duzen",
        "contéstame siempre en español",
    ],
)
async def test_a_wish_with_a_word_of_permanence_is_recognised(said: str) -> None:
    (memory,) = await kept(said)
    assert part(memory) == "wish"


@pytest.mark.parametrize(
    "said",
    [
        "I can't open the file",
        "I don't think so",
        "That is not something I am looking forward to",
        "mach dir keine Sorgen",
        "Ich kann mich nicht beklagen",
        "je ne peux pas compter",
        "I went for a run and hurt my back",
        "When I go on trips they come over and make sure",
        "At most ten lines, for accountants",
        "If you book with resorts directly, they usually handle the transfers",
        "If a person is a smoker then basically every cell is damaged",
    ],
)
async def test_negations_and_phrases_that_only_resemble_limits_are_not_limits(said: str) -> None:
    assert [each for each in await kept(said) if part(each)] == []


@pytest.mark.parametrize(
    "said",
    [
        "what's a good gluten free flour?",
        "the wheelchair ramp at the station is broken",
        "a diabetic patient walks in, what do you check?",
        "the API allows no more than 100 requests per minute",
        "please fix the bug, don't touch the tests",
        "Tom can't eat nuts",
        "no dairy for him, ever",
        "can you answer in English this time?",
        "write a formal email to my boss",
        "two examples please",
        "thanks, always a pleasure",
        "in the future they will fix it",
        "wenn wir fertig sind, zeige ich Ihnen ein paar Sachen",
    ],
)
async def test_questions_statements_about_others_and_one_off_requests_are_no_limits_or_wishes(said: str) -> None:
    assert await kept(said) == ()


async def test_a_german_statement_about_a_joint_move_is_kept_as_a_move_of_the_user() -> None:
    assert [each.text for each in await kept("Wir sind vor kurzem nach Kassel gezogen.")] == [
        "Der Nutzer ist nach Kassel gezogen."
    ]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            "Kurzes Update: wir sind vor kurzem nach Kassel gezogen.",
            "Der Nutzer ist nach Kassel gezogen.",
        ),
        ("Enfin du neuf : j'habite à Nantes.", "L'utilisateur habite à Nantes."),
        ("Buena noticia: vivo en Vigo.", "El usuario vive en Vigo."),
    ],
)
async def test_a_statement_after_an_announcement_and_a_colon_is_extracted(said: str, text: str) -> None:
    assert [each.text for each in await kept(said)] == [text]
