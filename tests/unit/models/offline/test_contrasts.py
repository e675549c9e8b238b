"""A correction that names the wrong value, too ("Thursday, not Tuesday"), replaces it in the earlier statement of the person."""

from datetime import UTC, datetime

import pytest
from msgspec import structs

from agents.models.offline.provider import OfflineProvider
from agents.models.port import Proposal
from tests.builders.groups import TEAM, group_message, slices_of
from tests.builders.slices import knowing, known, slice_of

SAID_AND_CORRECTED = (
    ("I have a hearing test on Tuesday.", "Sorry, I meant Thursday, not Tuesday", "on 2026-03-05 (said: on Thursday)"),
    ("Our boat trip is on June 12th.", "Oh wait, correction: the trip is on the 13th, not the 12th", "2026-06-13"),
    ("My talk is at 3pm tomorrow.", "no, 4pm, not 3pm", "at 4pm on"),
    ("We invited 30 people to the christening.", "scratch that, it's 40 people, not 30", "invited 40 people"),
    ("My aunt Rosa lives in Graz.", "No, not Graz but Linz.", "aunt Rosa lives in Linz"),
    ("My tortoise is called Bello.", "his name is Balu, not Bello, sorry", "tortoise is called Balu"),
    ("Meine Nichte ist 12 Jahre alt.", "Quatsch, sie ist 13, nicht 12.", "ist 13 Jahre alt"),
    ("Ich arbeite bei Siemens.", "Ich arbeite nicht bei Siemens, sondern bei Bosch.", "arbeitet bei Bosch"),
    ("Mon fils s'appelle Hugo.", "Non, attends, il s'appelle Ugo, pas Hugo", "s'appelle Ugo"),
    ("Vivo en Salamanca.", "Corrección: vivo en Zamora, no en Salamanca", "vive en Zamora"),
)


async def extracted(*contents: str) -> list[Proposal]:
    return list((await OfflineProvider().extract(slice_of(*contents), knowing())).proposals)


@pytest.mark.parametrize(("first", "correction", "expected"), SAID_AND_CORRECTED)
async def test_the_right_value_replaces_the_wrong_one_in_the_statement_of_the_slice(
    first: str, correction: str, expected: str
) -> None:
    old, new = await extracted(first, correction)
    assert expected in new.text
    assert (new.message_ids, new.corrects) == (("m2",), (old.number,))


async def test_the_end_of_a_validity_follows_the_corrected_month() -> None:
    _, new = await extracted("I live in Porto until March.", "until May, not March")
    assert new.text == "User lives in Porto until May."
    assert new.valid_until == datetime(2026, 4, 30, 22, tzinfo=UTC), "May begins in Berlin"


@pytest.mark.parametrize("between", ["My brother Ole lives in York.", "I like tea."])
async def test_a_correction_with_a_subject_means_an_earlier_statement_about_it(between: str) -> None:
    *_, new = await extracted("My sister Una lives in York.", between, "Una lives in Hull, not York")
    assert new.text == "User's sister Una lives in Hull."


async def test_the_memory_of_an_earlier_conversation_is_corrected() -> None:
    party, dentist = known("User invited 30 people to the christening."), known("User sees 30 patients a day.")
    context = knowing(dentist, party)
    (new,) = (await OfflineProvider().extract(slice_of("it's 40 people, not 30"), context)).proposals
    assert (new.text, new.contradicts) == ("User invited 40 people to the christening.", party.memory_id)


async def test_without_a_subject_a_correction_of_a_memory_takes_something_back_and_means_the_only_one() -> None:
    hens, cats = known("User has 12 hens."), known("User has 12 cats.")
    sorry = slice_of("Sorry, 13, not 12")
    assert (await OfflineProvider().extract(sorry, knowing(hens))).proposals[0].text == "User has 13 hens."
    assert (await OfflineProvider().extract(sorry, knowing(hens, cats))).proposals == ()
    assert (await OfflineProvider().extract(slice_of("13, not 12"), knowing(hens))).proposals == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My violin lesson is on Thursday.", "My brother's party is on Friday, not Thursday."),
        ("I love my blue car.", "I want the red one, not the blue one."),
        ("My sister lives in York.", "My brother lives in Hull, not York."),
        ("I have 3 hens.", "I do not like 3 of them"),
    ],
)
async def test_a_statement_about_another_subject_corrects_nothing(first: str, second: str) -> None:
    (kept,) = await extracted(first)
    unchanged, *others = await extracted(first, second)
    assert unchanged.text == kept.text
    assert not any(each.corrects for each in others)


async def test_nobody_corrects_the_statement_of_another_person() -> None:
    said = [group_message(1, "ada", "I have 3 hens."), group_message(2, "bob", "Sorry, 4, not 3")]
    (request,) = slices_of(said, TEAM)
    (kept,) = (await OfflineProvider().extract(request, structs.replace(knowing(), policy=TEAM))).proposals
    assert kept.text == "User has 3 hens."
