"""Slices of conversations in which several people speak."""

from msgspec import structs

from schemas import codec
from schemas.extraction.requests import ExtractionRequest, Speaker
from schemas.policies.policies import Policy
from schemas.policies.triggers import Triggers
from tests.builders.groups import PERSONAL, TEAM, group_message, slices_of

ADA, BOB = Speaker(user_id="ada", namespaces=("kitchen/ada",)), Speaker(user_id="bob", namespaces=("kitchen/bob",))


def test_a_slice_feeds_the_namespaces_of_everybody_who_speaks_in_it() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "I live in Berlin."), group_message(1, "bob", "I live in Lyon.")], TEAM
    )

    assert request.namespaces == ("kitchen/ada", "kitchen", "kitchen/bob")
    assert request.speakers == (ADA, BOB)
    assert request.shared == ("kitchen",)


def test_a_request_with_a_single_speaker_omits_the_speakers_field() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "Hello."), group_message(1, "ada", "Hi!", role="assistant")], PERSONAL
    )

    assert request.namespaces == ("kitchen/ada",)
    assert request.speakers == ()
    assert b"speakers" not in codec.encode(request) and b'"user_id":"ada","role"' not in codec.encode(request)


def test_a_message_without_a_user_id_is_attributed_to_the_user_of_the_conversation() -> None:
    (request,) = slices_of(
        [
            group_message(0, "ada", "Hello."),
            group_message(1, None, "I live in Berlin."),
            group_message(2, "bob", "Hi."),
        ],
        TEAM,
    )

    assert [request.speaker(each) for each in request.messages] == ["ada", "ada", "bob"]


def test_an_assistant_message_does_not_make_its_addressee_a_speaker() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "Hello."), group_message(1, "bob", "Hi, Bob!", role="assistant")], PERSONAL
    )

    assert request.namespaces == ("kitchen/ada",)
    assert request.speakers == (ADA,)


def test_a_slice_with_only_other_speakers_feeds_no_namespace_of_the_conversations_user() -> None:
    each_exchange = Policy(name="live", namespaces=PERSONAL.namespaces, triggers=Triggers(on_exchange=True))
    said = [
        group_message(0, "ada", "I live in Berlin."),
        group_message(1, None, "Noted.", role="assistant"),
        group_message(2, "bob", "I live in Lyon."),
        group_message(3, None, "Noted.", role="assistant"),
    ]

    first, second = slices_of(said, each_exchange)

    assert (first.namespaces, first.speakers) == (("kitchen/ada",), ())
    assert (second.namespaces, second.speakers) == (("kitchen/bob",), (ADA, BOB))  # Ada speaks just before


def test_a_request_carries_the_latest_name_of_each_speaker() -> None:
    said = [
        group_message(0, "ada", "Hi.", name="A."),
        group_message(1, "bob", "Hi."),
        group_message(2, "ada", "Hi.", name="Ada Lovelace"),
    ]

    (request,) = slices_of(said, PERSONAL)

    assert [(each.user_id, each.name) for each in request.speakers] == [("ada", "Ada Lovelace"), ("bob", None)]


def test_a_request_for_a_shared_namespace_names_even_a_single_speaker() -> None:
    (request,) = slices_of([group_message(0, "ada", "I live in Berlin.")], TEAM)

    assert request.speakers == (ADA,)


def test_a_request_for_an_app_namespace_includes_a_speaker_only_with_a_display_name() -> None:
    of_app = Policy(name="app", namespaces=("{app_id}",))

    (unnamed,) = slices_of([group_message(0, "ada", "I live in Berlin.")], of_app)
    (named,) = slices_of([group_message(0, "ada", "I live in Berlin.", name="Ada")], of_app)

    assert unnamed.speakers == ()
    assert named.speakers == (Speaker(user_id="ada", name="Ada"),)


def test_a_request_of_an_earlier_version_without_speakers_feeds_all_its_namespaces() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "I live in Berlin."), group_message(1, "bob", "I live in Lyon.")], TEAM
    )

    older = codec.decode(codec.encode(structs.replace(request, speakers=())), ExtractionRequest)

    assert older.fed_by({"ada"}) == older.namespaces
