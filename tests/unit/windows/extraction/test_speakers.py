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


def keys(request: ExtractionRequest) -> list[tuple[str | None, str | None, bool]]:
    return [(each.user_id, each.name, each.guest) for each in request.speakers]


def test_another_name_without_a_user_id_is_a_person_without_a_namespace_of_their_own() -> None:
    said = [
        group_message(0, "ada", "Hi.", name="Ada"),
        group_message(1, None, "I'm allergic to peanuts.", name="Bob"),
        group_message(2, None, "I live in Lyon.", name="Cem"),
        group_message(3, None, "I live in Berlin.", name="ada"),
    ]

    (personal,) = slices_of(said, PERSONAL)
    (team,) = slices_of(said, TEAM)

    assert keys(personal) == [("ada", "ada", False), (None, "Bob", True), (None, "Cem", True)]
    assert [personal.user(each) for each in personal.messages] == ["ada", None, None, "ada"]
    assert personal.namespaces == ("kitchen/ada",)
    assert [personal.fed_by({personal.speaker(each)}) for each in personal.messages[:2]] == [("kitchen/ada",), ()]
    assert [team.fed_by({team.speaker(each)}) for each in team.messages[1:3]] == [("kitchen",), ("kitchen",)]
    assert personal.source(personal.messages[1]).user_id is None
    assert codec.decode(codec.encode(team), ExtractionRequest) == team


def test_a_user_with_or_without_a_surname_is_no_guest() -> None:
    names = ("Anna", "anna  schmidt", "Anna Schmidt", "Annabel", "Schmidt")
    for known in ("Anna", "ANNA Schmidt"):
        said = [group_message(0, "ada", "Hi.", name=known)]
        said += [group_message(number, None, "I live in Lyon.", name=name) for number, name in enumerate(names, 1)]

        (request,) = slices_of(said, PERSONAL)

        assert [request.user(each) for each in request.messages[1:]] == ["ada", "ada", "ada", None, None]


def test_a_slice_in_which_only_a_guest_speaks_stores_nothing_for_the_user() -> None:
    each_exchange = Policy(
        name="live", namespaces=PERSONAL.namespaces, triggers=Triggers(on_exchange=True), overlap_messages=0
    )
    said = [
        group_message(0, "ada", "Hi.", name="Ada"),
        group_message(1, None, "Noted.", role="assistant"),
        group_message(2, None, "I live in Lyon.", name="Bob"),
        group_message(3, None, "Noted.", role="assistant"),
    ]

    _, second = slices_of(said, each_exchange)

    assert second.namespaces == ("kitchen/ada",)
    assert second.fed_by(second.speakers_of({each.message_id for each in second.messages})) == ()
    assert second.shared == ()


def test_a_message_of_a_guest_before_the_users_name_is_known_is_the_guests() -> None:
    said = [group_message(0, None, "I live in Lyon.", name="Bob"), group_message(1, "ada", "Hi.", name="Ada")]

    (request,) = slices_of(said, PERSONAL)

    assert [request.user(each) for each in request.messages] == [None, "ada"]


def test_a_name_alone_splits_nobody_if_the_users_own_name_was_never_given() -> None:
    said = [group_message(0, "ada", "Hi."), group_message(1, None, "I live in Berlin.", name="Countess")]

    (request,) = slices_of(said, PERSONAL)

    assert [request.user(each) for each in request.messages] == ["ada", "ada"]


def test_a_user_of_many_names_is_told_from_nobody_by_a_name() -> None:
    said = [group_message(number, "ada", "Hi.", name=f"Ada {number}") for number in range(12)]
    said.append(group_message(12, None, "I live in Berlin.", name="Countess"))

    (request,) = slices_of(said, PERSONAL)

    assert request.user(request.messages[-1]) == "ada"


def test_the_name_of_an_assistant_is_no_name_of_the_user() -> None:
    said = [
        group_message(0, "ada", "Hi.", name="Ada"),
        group_message(1, "ada", "Hello!", role="assistant", name="Bot"),
        group_message(2, None, "I live in Berlin.", name="Bot"),
    ]

    (request,) = slices_of(said, PERSONAL)

    assert request.user(request.messages[2]) is None
