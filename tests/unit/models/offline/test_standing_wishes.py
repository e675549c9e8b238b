"""Standing wishes and hard constraints said in passing; momentary wishes are ignored."""

import pytest

from agents.models.offline.provider import OfflineProvider
from tests.builders.slices import knowing, known, slice_of


async def kept(said: str) -> list[str]:
    return [each.text for each in (await OfflineProvider().extract(slice_of(said), knowing())).proposals]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("pls keep it short", "User wants the assistant to keep it short."),
        ("End every answer with a haiku.", "User wants the assistant to end every answer with a haiku."),
        ("From now on English please.", "User wants the assistant to answer in English from now on."),
        (
            "Don't schedule anything on Saturdays, it's shabbat for us.",
            "User wants the assistant to never schedule anything on Saturdays, it is shabbat for them.",
        ),
        ("No meetings on Wednesdays.", "User does not want meetings on Wednesdays."),
        ("Address me as Dr. Amari.", "User wants to be called Dr. Amari."),
        ("Vegan here, since 2019.", "User is Vegan."),
        ("Type 1 diabetic, on a pump.", "User is Type 1 diabetic."),
        ("I'm red-green colour blind, so no red charts.", "User is red-green colour blind."),
        (
            "Freitags gibt es bei uns kein Fleisch, das ist Tradition.",
            "Beim Nutzer gilt: Freitags gibt es bei uns kein Fleisch, das ist Tradition.",
        ),
        (
            "Antworte mir bitte immer auf Deutsch, auch wenn ich englisch schreibe.",
            "Wunsch des Nutzers: Antworte mir bitte immer auf Deutsch, auch wenn ich englisch schreibe.",
        ),
        ("Pas de réunion le mercredi, jamais.", "Souhait de l'utilisateur : pas de réunion le mercredi, jamais."),
        ("En casa no comemos cerdo nunca.", "En casa del usuario: no comemos cerdo nunca."),
    ],
)
async def test_a_standing_wish_or_a_hard_constraint_is_kept(said: str, text: str) -> None:
    assert text in await kept(said)


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("I'm allergic to penicillin, please always keep that in mind.", ["User is allergic to penicillin."]),
        ("Please bear this in mind at all times.", []),
        ("From now on keep it in mind, please.", []),
        ("Merk dir das bitte immer.", []),
        ("Ich bin allergisch gegen Nüsse, bitte immer daran denken.", ["Der Nutzer ist allergisch gegen Nüsse."]),
        ("No lo olvides nunca.", []),
        (
            "Keep my allergy in mind from now on.",
            ["User wants the assistant to keep their allergy in mind from now on."],
        ),
    ],
)
async def test_a_wish_that_only_asks_to_remember_what_was_said_is_no_memory(said: str, texts: list[str]) -> None:
    assert await kept(said) == texts


async def test_a_cancelled_standing_wish_contradicts_the_known_wish() -> None:
    haiku = known("User wants the assistant to end every answer with a haiku.")
    answer = await OfflineProvider().extract(slice_of("No more haikus, it was fun while it lasted."), knowing(haiku))
    (found,) = answer.proposals
    assert found.text == "User wants no more haikus." and found.contradicts == haiku.memory_id


@pytest.mark.parametrize(
    "said",
    [
        "Don't book anything yet.",
        "Don't send me anything today.",
        "No calls right now.",
        "Keep it.",
        "No problem at all.",
        "End of story.",
        "Blind leading the blind!",
    ],
)
async def test_a_momentary_request_is_not_kept_as_a_standing_wish(said: str) -> None:
    assert await kept(said) == []
