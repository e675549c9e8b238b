"""A proposal that corrects another of its slice supersedes it unless another source supports it."""

import pytest
from msgspec import structs

from agents.extraction.corrections import corrected
from agents.extraction.records import candidate_batches
from agents.models.port import Answer, Proposal
from schemas.policies.policies import Policy
from tests.builders.groups import group_message, slices_of
from tests.builders.slices import MONDAY, said, slice_of

MEDIUM, LARGE = "User takes the jacket in medium.", "User takes the jacket in large."


def proposed(text: str, *message_ids: str) -> Proposal:
    return Proposal(kind="fact", text=text, message_ids=message_ids, confidence=0.9)


@pytest.mark.parametrize(
    "second",
    [
        "Sorry, large.",
        "No wait, in large.",
        "I meant large.",
        "Make that large.",
        "Large, not medium.",
        "Oh, actually large.",
    ],
)
def test_a_correction_in_the_next_message_corrects_the_earlier_proposal(second: str) -> None:
    request = slice_of(said("I take the jacket in medium.", 1), said("Noted.", 2, role="assistant"), said(second, 3))

    assert corrected(request, (proposed(MEDIUM, "m1"), proposed(LARGE, "m3"))) == {1: (0,)}
    assert corrected(request, (proposed(LARGE, "m3"), proposed(MEDIUM, "m1"))) == {0: (1,)}


def test_a_correction_in_the_same_message_corrects_the_earlier_proposal() -> None:
    request = slice_of("I take the jacket in medium, no wait, large.")

    assert corrected(request, (proposed(MEDIUM, "m1"), proposed(LARGE, "m1"))) == {1: (0,)}


@pytest.mark.parametrize(
    ("second", "text"),
    [
        ("And one in large.", LARGE),
        ("Sorry, one in large too.", LARGE),
        ("Sorry, I live in Berlin.", "User lives in Berlin."),
        ("Sorry, the jacket is for my brother and blue, and has to be there by Friday.", "User's brother likes blue."),
    ],
)
def test_an_additional_statement_corrects_no_earlier_proposal(second: str, text: str) -> None:
    request = slice_of("I take the jacket in medium.", second)

    assert corrected(request, (proposed(MEDIUM, "m1"), proposed(text, "m2"))) == {}


def test_a_place_corrects_no_number() -> None:
    request = slice_of("Mum is 62, no wait 63, and lives in Brighton, well Hove actually.")

    proposals = [proposed(text, "m1") for text in ("User's mum is 63.", "User's mum lives in Hove.")]
    assert corrected(request, proposals) == {}


def test_a_message_of_another_speaker_corrects_no_proposal() -> None:
    policy = Policy(name="group", namespaces=("{app_id}",))
    (request,) = slices_of(
        [group_message(0, "ada", "I take medium."), group_message(1, "bob", "Sorry, large.")], policy
    )
    first, second = (message.message_id for message in request.messages)

    assert corrected(request, (proposed(MEDIUM, first), proposed(LARGE, second))) == {}


def test_a_candidate_names_the_candidate_it_corrects_by_rules() -> None:
    request = slice_of("I take the jacket in medium.", "Sorry, large.")
    answer = Answer(provider="claude", model="m", proposals=(proposed(MEDIUM, "m1"), proposed(LARGE, "m2")))

    (batch,) = candidate_batches(request, answer, MONDAY)

    medium, large = batch.candidates
    assert (medium.corrects, large.corrects) == ((), (medium.candidate_id,))


def test_a_candidate_names_the_candidate_it_corrects_according_to_the_model_answer() -> None:
    request = slice_of("my brother Elias is a pilot", "did I say brother? cousin!")
    brother = structs.replace(proposed("User's brother Elias is a pilot", "m1"), number=2)
    cousin = structs.replace(proposed("User's cousin Elias is a pilot", "m2"), number=4, corrects=(2, 3))

    (batch,) = candidate_batches(request, Answer(provider="claude", model="m", proposals=(brother, cousin)), MONDAY)

    first, second = batch.candidates
    assert (first.corrects, second.corrects) == ((), (first.candidate_id,))


@pytest.mark.parametrize(
    ("second", "corrects"),
    [("Until the end of April I'm in Split.", False), ("Sorry, I mean I'm in Split until the end of April.", True)],
)
def test_a_temporary_statement_takes_a_permanent_one_back_only_if_its_words_do(second: str, corrects: bool) -> None:
    request = slice_of("I'm in Graz.", second)
    home = structs.replace(proposed("User is in Graz.", "m1"), number=1)
    stay = structs.replace(proposed("User is in Split.", "m2"), number=2, corrects=(1,), valid_until=MONDAY)

    (batch,) = candidate_batches(request, Answer(provider="claude", model="m", proposals=(home, stay)), MONDAY)

    assert bool(batch.candidates[1].corrects) is corrects
