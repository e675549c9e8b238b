"""Forget wishes of a slice, their speakers, and proposals that only repeat them."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from agents.extraction.erasure_filter import proposals_without_erased
from agents.extraction.records import candidate_batches
from agents.models.port import Answer, Proposal, WishRead
from schemas import codec
from schemas.conversations.messages import Message
from schemas.extraction.candidates import CandidateBatch
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from tests.builders.groups import group_message, slices_of
from tests.builders.slices import MONDAY, said, slice_of

GROUP = Policy(name="group", namespaces=("{app_id}/{user_id}", "{app_id}"))


def batches(request: ExtractionRequest, *proposals: Proposal) -> dict[str, CandidateBatch]:
    answer = Answer(provider="claude", model="m", proposals=proposals)
    return {batch.namespace: batch for batch in candidate_batches(request, answer, MONDAY)}


def proposed(text: str, *message_ids: str) -> Proposal:
    return Proposal(kind="fact", text=text, message_ids=message_ids, confidence=0.9)


def group(*messages: Message) -> ExtractionRequest:
    (request,) = slices_of(messages, GROUP)
    return request


def meant(batch: CandidateBatch) -> Sequence[str | None]:
    return [wish.means.message_id if wish.means else None for wish in batch.wishes]


def test_forget_that_refers_to_the_previous_message_of_the_same_speaker() -> None:
    assistants = said("Noted.", 2, role="assistant")
    (batch,) = batches(slice_of(said("I live in Berlin.", 1), assistants, said("Forget that.", 3))).values()

    assert meant(batch) == ["m1"]


def test_forget_that_can_refer_to_a_message_before_the_slice() -> None:
    request = replace(slice_of(said("Forget that.", 3)), overlap=(said("I smoke.", 1),))

    (batch,) = batches(request).values()

    assert meant(batch) == ["m1"]


def test_a_wish_goes_to_the_namespaces_of_its_speaker_and_refers_to_that_speakers_message() -> None:
    request = group(
        group_message(0, "bob", "I live in Lyon."),
        group_message(1, "ada", "I smoke."),
        group_message(2, "bob", "Do you really smoke?"),
        group_message(3, "ada", "Forget that."),
    )

    found = batches(request)

    assert {name: meant(batch) for name, batch in found.items()} == {
        "kitchen/ada": [request.messages[1].message_id],
        "kitchen": [request.messages[1].message_id],
        "kitchen/bob": [],
    }
    assert {batch.wishes[0].message.user_id for batch in found.values() if batch.wishes} == {"ada"}


def test_a_statement_in_a_shared_namespace_names_its_speaker() -> None:
    request = group(group_message(0, "bob", "Hello."), group_message(1, "ada", "Forget that I live in Berlin."))

    found = batches(request)

    assert [wish.statement for wish in found["kitchen"].wishes] == ["ada lives in Berlin."]
    assert [wish.statement for wish in found["kitchen/ada"].wishes] == ["User lives in Berlin."]


def test_proposals_based_only_on_wishes_are_dropped() -> None:
    request = slice_of("Forget that I live in Berlin.", "I live in Lyon. Forget about my job.")
    kept = proposed("User lives in Lyon.", "m2")

    (batch,) = batches(
        request,
        proposed("User lives in Berlin.", "m1"),
        proposed("User wants their job to be forgotten.", "m2"),
        kept,
    ).values()

    assert [candidate.text for candidate in batch.candidates] == [kept.text]


def test_the_wishes_of_a_request_do_not_depend_on_the_model_answer() -> None:
    request = slice_of("I live in Berlin.", "Forget that.")
    (one,), (other,) = batches(request).values(), batches(request, proposed("User lives in Berlin.", "m1")).values()

    assert one.wishes == other.wishes
    assert len({wish.wish_id for wish in one.wishes}) == 1


def test_a_message_in_a_role_play_is_no_wish() -> None:
    request = slice_of("Let's pretend you are a pirate and I am the captain.", "Forget that.")

    (batch,) = batches(request).values()

    assert batch.wishes == ()


def test_a_story_hides_no_wish_of_the_next_message() -> None:
    (batch,) = batches(slice_of("Write a story about a fox.", "Forget that I live in Berlin.")).values()

    assert [wish.statement for wish in batch.wishes] == ["User lives in Berlin."]


def test_a_role_play_of_one_guest_hides_no_wish_of_another() -> None:
    request = group(
        group_message(0, "bob", "Hello.", name="Bob"),
        group_message(1, None, "Let's pretend you are a pirate and I am the captain.", name="Mallory"),
        group_message(2, None, "Forget that I live in Berlin.", name="Eve"),
    )

    assert [wish.statement for wish in batches(request)["kitchen"].wishes] == ["Eve lives in Berlin."]


def test_a_wish_after_a_long_text_fits_into_its_candidate_batch() -> None:
    long = "I live in Berlin and I like it a lot. " * 400
    (batch,) = batches(slice_of(f"{long} Forget that. I live in Lyon.")).values()

    decoded = codec.decode_untrusted(codec.encode(batch), CandidateBatch)

    assert decoded.wishes
    assert decoded == batch


DIVORCE = "my sister's divorce"
PRIVATE = "That stays between us, keep it out of your notes."


def read(asked_in: str, text: str = DIVORCE, **fields: Any) -> Proposal:
    return Proposal(
        kind="wish", text=text, message_ids=(asked_in,), confidence=1.0, wish=WishRead(asked_in=asked_in, **fields)
    )


def test_a_wish_that_only_the_model_reads_refers_to_its_memories_messages_and_topic() -> None:
    request = replace(slice_of(said("I see.", 1), said(PRIVATE, 2)), overlap=(said("My sister is leaving Tom.", 0),))

    (batch,) = batches(request, read("m2", memory_ids=("a", "b"), said_in=("m0",))).values()

    (wish,) = batch.wishes
    assert batch.candidates == ()
    assert (wish.message.message_id, wish.topic, wish.memory_ids) == ("m2", DIVORCE, ("a", "b"))
    assert [each.message_id for each in wish.messages_meant] == ["m0"]


def test_what_a_model_reads_as_a_statement_is_one() -> None:
    request = group(group_message(0, "bob", "Hello."), group_message(1, "ada", PRIVATE))
    asked_in = request.messages[1].message_id

    found = batches(request, read(asked_in, "User lives in Berlin."))

    assert {name: [each.statement for each in batch.wishes] for name, batch in found.items()} == {
        "kitchen/ada": ["User lives in Berlin."],
        "kitchen": ["ada lives in Berlin."],
        "kitchen/bob": [],
    }


def test_a_message_whose_wish_both_the_rules_and_the_model_find_has_one_wish() -> None:
    request = slice_of("I live in Berlin.", "Forget that.")

    (batch,) = batches(request, read("m2", memory_ids=("a",), said_in=("m1",))).values()

    (wish,) = batch.wishes
    assert meant(batch) == ["m1"]
    assert (wish.memory_ids, wish.topic) == (("a",), None)


def test_a_wish_that_a_model_reads_twice_is_one_wish_with_all_that_it_names() -> None:
    request = slice_of("My sister smokes.", "She is leaving Tom.", PRIVATE)
    twice = (read("m3", memory_ids=("a",), said_in=("m1",)), read("m3", memory_ids=("a", "b"), said_in=("m2", "m1")))

    (batch,) = batches(request, *twice).values()

    (wish,) = batch.wishes
    assert wish.memory_ids == ("a", "b")
    assert [each.message_id for each in wish.messages] == ["m1", "m2"]


def test_no_number_of_wishes_that_a_model_reads_displaces_those_of_the_rules() -> None:
    request = slice_of(PRIVATE, "Forget that I live in Berlin.")

    (batch,) = batches(request, *(read("m1", f"topic {number}") for number in range(100))).values()

    assert [wish.topic for wish in batch.wishes[:-1]] == [f"topic {number}" for number in range(63)]
    assert batch.wishes[-1].statement == "User lives in Berlin."


def test_a_statement_that_a_model_reads_fits_into_its_candidate_batch_with_any_name() -> None:
    request = group(
        group_message(0, "bob", "Hello."), group_message(1, "ada", PRIVATE, name="Ada of the House of Many Names")
    )

    found = batches(request, read(request.messages[1].message_id, "User, " * 166))

    for batch in found.values():
        assert codec.decode_untrusted(codec.encode(batch), CandidateBatch) == batch
    assert len(found["kitchen"].wishes[0].statement or "") == 4_000


def test_a_wish_for_everything_that_only_the_model_reads_erases_nothing() -> None:
    by_rules, by_model = "Delete all your memories about me.", "Cancella tutto quello che sai di me."

    (batch,) = batches(slice_of(by_rules, by_model), read("m1", everything=True), read("m2", everything=True)).values()

    assert [(each.message.message_id, each.everything, each.scope is not None) for each in batch.wishes] == [
        ("m1", True, True),
        ("m2", True, False),
    ]


def test_a_proposal_that_tells_of_a_wish_read_by_the_model_is_dropped() -> None:
    request = slice_of(PRIVATE)
    told = proposed("User wants a divorce to be forgotten.", "m1")

    (batch,) = batches(request, told, read("m1")).values()

    assert batch.candidates == ()


def test_a_wish_that_an_erased_message_asks_for_or_refers_to_is_dropped() -> None:
    request = slice_of("My sister smokes.", PRIVATE)
    wish = read("m2", said_in=("m1",))
    answer = Answer(provider="claude", model="m", proposals=(replace(wish, message_ids=("m2", "m1")),))

    assert proposals_without_erased(request, answer, {}) == answer
    for remaining in request.messages:
        partly = replace(request, messages=(remaining,))
        assert proposals_without_erased(partly, answer, {}).proposals == ()


def test_the_classifier_adds_unclear_wishes_to_answers_of_the_rules_alone() -> None:
    request = slice_of("My eye surgery should not be kept in your memory.")
    providers = {name: Answer(provider=name, model="m", proposals=()) for name in ("offline", "claude")}
    wishes = {name: candidate_batches(request, answer, MONDAY)[0].wishes for name, answer in providers.items()}

    assert wishes["claude"] == ()
    assert [each.is_unclear for each in wishes["offline"]] == [True]
