"""Slices of conversations in which several people speak."""

from msgspec import structs

from schemas import codec
from schemas.extraction.requests import ExtractionRequest, Speaker
from schemas.policies.policies import Policy
from schemas.policies.triggers import Triggers
from tests.groups import PERSONAL, TEAM, group_message, slices_of

ADA, BOB = Speaker(user_id="ada", namespaces=("kitchen/ada",)), Speaker(user_id="bob", namespaces=("kitchen/bob",))


def test_a_slice_feeds_the_namespaces_of_everybody_who_speaks_in_it() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "I live in Berlin."), group_message(1, "bob", "I live in Lyon.")], TEAM
    )

    assert request.namespaces == ("kitchen/ada", "kitchen", "kitchen/bob")
    assert request.speakers == (ADA, BOB)
    assert request.shared == ("kitchen",)


def test_where_one_person_speaks_nothing_is_said_of_speakers() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "Hello."), group_message(1, "ada", "Hi!", role="assistant")], PERSONAL
    )

    assert request.namespaces == ("kitchen/ada",)
    assert request.speakers == ()
    assert b"speakers" not in codec.encode(request) and b'"user_id":"ada","role"' not in codec.encode(request)


def test_a_message_that_names_nobody_is_of_the_conversations_user() -> None:
    (request,) = slices_of(
        [
            group_message(0, "ada", "Hello."),
            group_message(1, None, "I live in Berlin."),
            group_message(2, "bob", "Hi."),
        ],
        TEAM,
    )

    assert [request.speaker(each) for each in request.messages] == ["ada", "ada", "bob"]


def test_what_only_an_assistant_says_to_somebody_makes_nobody_a_speaker() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "Hello."), group_message(1, "bob", "Hi, Bob!", role="assistant")], PERSONAL
    )

    assert request.namespaces == ("kitchen/ada",)
    assert request.speakers == (ADA,)


def test_a_slice_in_which_only_somebody_else_speaks_feeds_nothing_of_the_conversations_user() -> None:
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


def test_names_go_along_and_the_latest_counts() -> None:
    said = [
        group_message(0, "ada", "Hi.", name="A."),
        group_message(1, "bob", "Hi."),
        group_message(2, "ada", "Hi.", name="Ada Lovelace"),
    ]

    (request,) = slices_of(said, PERSONAL)

    assert [(each.user_id, each.name) for each in request.speakers] == [("ada", "Ada Lovelace"), ("bob", None)]


def test_who_speaks_is_told_beside_a_namespace_that_others_feed_too() -> None:
    (request,) = slices_of([group_message(0, "ada", "I live in Berlin.")], TEAM)

    assert request.speakers == (ADA,)


def test_whoever_gives_names_is_told_of_by_name_in_a_namespace_of_the_app() -> None:
    of_app = Policy(name="app", namespaces=("{app_id}",))

    (unnamed,) = slices_of([group_message(0, "ada", "I live in Berlin.")], of_app)
    (named,) = slices_of([group_message(0, "ada", "I live in Berlin.", name="Ada")], of_app)

    assert unnamed.speakers == ()
    assert named.speakers == (Speaker(user_id="ada", name="Ada"),)


def test_a_request_of_before_speakers_were_known_feeds_all_its_namespaces() -> None:
    (request,) = slices_of(
        [group_message(0, "ada", "I live in Berlin."), group_message(1, "bob", "I live in Lyon.")], TEAM
    )

    older = codec.decode(codec.encode(structs.replace(request, speakers=())), ExtractionRequest)

    assert older.fed_by({"ada"}) == older.namespaces
