"""Statements in quotations, dreams, games, roles and jokes are not kept as facts about the speaker."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs

from agents.models.offline.provider import OfflineProvider
from schemas.extraction.requests import SliceMessage
from tests.builders.slices import MONDAY, knowing, said, slice_of


async def kept(*messages: str | SliceMessage) -> list[str]:
    answer = await OfflineProvider().extract(slice_of(*messages), knowing())
    return [each.text for each in answer.proposals]


@pytest.mark.parametrize(
    "message",
    [
        "I had the weirdest dream: I was a teacher in Alaska and married to a moose.",
        "I dreamt that I live on Mars.",
        "Ich habe geträumt, ich wohne in Davos.",
        "J'ai rêvé que j'habite à Lyon.",
        "Soñé que vivo en Sevilla.",
        "In Minecraft I own a castle with 40 rooms.",
        "Here's my poem: I live in rivers, I have no mother.",
        "TL;DR please: I am a founder, I never eat breakfast.",
        "My favourite article says 'As a founder I live in Paris and I never eat breakfast.'",
        "You are the king, I'm your spy. I have two wives and a castle in Blois.",
        "On joue : tu es le roi, moi je suis ton espion. J'ai deux femmes et un château à Blois.",
        "Tu so als wärst du mein Arzt. Ich wohne in Kiel.",
        "Juguemos: eres el médico. Vivo en Sevilla.",
    ],
)
async def test_statements_in_dreams_games_roles_and_quoted_texts_are_not_kept(message: str) -> None:
    assert await kept(message) == []


async def test_a_real_life_statement_next_to_a_game_is_kept() -> None:
    assert await kept("In Skyrim I live in Whiterun. In real life I live in Turin.") == ["User lives in Turin."]


async def test_words_that_only_resemble_a_game_or_a_dream_do_not_block_facts() -> None:
    assert await kept("I work in civil engineering.") == ["User works in civil engineering."]
    assert await kept("I have a dream house and live in Turin.") != []
    assert await kept("In Civ 6 I live in Rome.") == []


async def test_a_role_play_lasts_until_the_speaker_ends_it() -> None:
    talk = ("Pretend to be my therapist.", "I have a daughter called Mia.", "I live in Alaska.")
    assert await kept(*talk) == []
    assert await kept(*talk, "Back to reality: I live in Turin.", "I have a dog called Rex.") == [
        "User lives in Turin.",
        "User has a dog called Rex.",
    ]


@pytest.mark.parametrize(
    "taken_back", ["Just kidding!", "lol jk, I was joking", "War nur ein Scherz.", "Je plaisante.", "Era broma."]
)
async def test_a_joke_that_is_taken_back_is_not_kept(taken_back: str) -> None:
    assert await kept("I am the king of Sweden.", taken_back, "I live in Turin.") == ["User lives in Turin."]


async def test_a_statement_within_a_role_play_is_dropped_and_a_statement_outside_is_kept() -> None:
    playing = said("Pretend to be my therapist. I live in Alaska.")
    assert await kept("I live in Turin.") == ["User lives in Turin."]
    answer = await OfflineProvider().extract(slice_of(playing, said("Hm.", 2, role="assistant")), knowing())
    assert answer.proposals == ()


@pytest.mark.parametrize(
    "message",
    [
        "If I moved to Miami, what would rent be like?",
        "If I won the lottery I'd buy a vineyard.",
        "What if I was allergic to bees?",
        "Falls ich die Stelle bekomme, ziehen wir um.",
        "Angenommen, ich wohne in Davos.",
        "Si j'étais riche, j'habiterais à Nice.",
        "Si viviera en Madrid, tendría un perro.",
        "If it rains I take the bus.",
        "Imagine I live in Rome.",
        "Stell dir vor, ich wohne in Rom.",
        "Imagina que vivo en Roma.",
    ],
)
async def test_hypothetical_statements_are_not_kept(message: str) -> None:
    assert [text for text in await kept(message) if "rains" not in text] == []


def framed(name: str) -> list[list[str]]:
    cases = json.loads(Path(__file__).with_name("framed.json").read_text(encoding="utf-8"))[name]
    return [case for each in cases.values() for case in each] if isinstance(cases, dict) else cases


@pytest.mark.parametrize("messages", framed("nothing of these is the speaker's own"), ids=" ".join)
async def test_statements_within_a_fictional_frame_are_not_kept(messages: list[str]) -> None:
    assert await kept(*messages) == []


@pytest.mark.parametrize("messages", framed("of these only this is kept"), ids=" ".join)
async def test_a_fact_in_the_sentence_that_opens_a_fictional_frame_is_kept(messages: list[str]) -> None:
    assert await kept(*messages[:-1]) == messages[-1:]


@pytest.mark.parametrize("messages", framed("of these something is kept"), ids=" ".join)
async def test_merely_naming_a_work_opens_no_fictional_frame(messages: list[str]) -> None:
    assert any(messages[-1] in text for text in await kept(*messages[:-1]))


async def test_a_fictional_frame_ends_after_a_long_pause() -> None:
    later = said("I live in Turin.", 2, at=MONDAY + timedelta(hours=2))
    assert await kept("Pretend to be my therapist.", later) == ["User lives in Turin."]


async def test_a_fictional_frame_opened_in_the_overlap_applies_to_the_slice() -> None:
    request = structs.replace(
        slice_of("I have a daughter called Mia."), overlap=(said("You play the doctor, please."),)
    )
    assert (await OfflineProvider().extract(request, knowing())).proposals == ()
