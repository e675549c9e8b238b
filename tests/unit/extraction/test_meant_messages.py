"""The message that "forget that" means in a conversation of several people."""

from collections.abc import Sequence

import pytest

from agents.extraction import meant_messages
from agents.extraction.records import candidate_batches
from agents.extraction.wishes import wishes_of
from agents.models.port import Answer
from schemas.conversations.messages import Message
from schemas.extraction.candidates import MAX_NAMED, Wish
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy
from tests.builders.groups import group_message, slices_of
from tests.builders.slices import MONDAY

GROUP = Policy(name="group", namespaces=("{app_id}/{user_id}", "{app_id}"))


def request_of(*messages: Message) -> ExtractionRequest:
    (request,) = slices_of(messages, GROUP)
    return request


def wishes_among(*messages: Message) -> Sequence[Wish]:
    batches = candidate_batches(request_of(*messages), Answer(provider="claude", model="m", proposals=()), MONDAY)
    return next(batch.wishes for batch in batches if batch.namespace == "kitchen")


def wish_after(said: str, wisher: str | None = "Ada", teller: str = "Bob") -> Wish:
    """Ada's wish after a message of her own and another person's."""
    (wish,) = wishes_among(
        group_message(0, "ada", "I planted garlic.", name=wisher),
        group_message(1, "bob", said, name=teller),
        group_message(2, "ada", "Thanks, but please forget that, it was meant to stay private.", name=wisher),
    )
    return wish


def meant_user(wish: Wish) -> str | None:
    return wish.means.user_id if wish.means else None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Ada", "Ada told me that she is pregnant."),
        ("Ada Lovelace", "I heard that Ada Lovelace smokes."),
        ("Ada Lovelace", "Ada's mother is in hospital."),
        ("ada", "Adas Mutter liegt im Krankenhaus."),
        ("Ada", "Je crois qu'Ada est enceinte."),
        ("Ada", "Creo que Ada está embarazada."),
        ("Ada", "Ada's pregnant."),
        ("Ada", "Did you know that Ada is pregnant?"),
    ],
)
def test_that_means_another_persons_message_before_the_wish_if_it_speaks_of_the_wisher(name: str, said: str) -> None:
    wish = wish_after(said, name)

    assert meant_user(wish) == "bob"
    assert wish.named_as == name


@pytest.mark.parametrize("said", ["Really?", "Oh no!", "Do you really smoke?"])
def test_that_means_the_wishers_own_message_before_anothers_question_or_remark_without_the_wishers_name(
    said: str,
) -> None:
    assert meant_user(wish_after(said)) == "ada"


@pytest.mark.parametrize(
    "said",
    [
        "I live in Lyon.",
        "She told me that she is pregnant.",
        "Congratulations, Ada!",
        "Do you really smoke, Ada?",
        "Ada Byron told me that she is pregnant.",
        "Is my sister Ada pregnant?",
    ],
)
def test_what_that_means_is_unclear_after_another_persons_message_that_may_be_about_anybody(said: str) -> None:
    assert wish_after(said).is_unclear


@pytest.mark.parametrize("said", ["Ada told me that she is pregnant.", "Ada's pregnant."])
def test_what_that_means_is_unclear_after_the_wishers_user_id(said: str) -> None:
    assert wish_after(said, wisher=None).is_unclear


@pytest.mark.parametrize("said", ["Ada told me that she is pregnant.", "Ada Jones is pregnant.", "Ada's pregnant."])
def test_what_that_means_is_unclear_after_the_name_of_two_speakers(said: str) -> None:
    assert wish_after(said, wisher="Ada Jones", teller="Ada Schmidt").is_unclear


@pytest.mark.parametrize("said", ["Ada told me that she is pregnant.", "Ada's pregnant."])
def test_a_guests_wish_never_means_another_persons_message(said: str) -> None:
    (wish,) = wishes_among(
        group_message(0, "bob", "Hello.", name="Bob"),
        group_message(1, None, "I planted garlic.", name="Ada"),
        group_message(2, "bob", said, name="Bob"),
        group_message(3, None, "Forget that.", name="Ada"),
    )

    assert wish.is_unclear


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were read, in which no statement is found."""
    texts: list[str] = []
    monkeypatch.setattr(meant_messages, "has_statement", texts.append)
    return texts


def test_each_message_is_read_once_for_all_wishes(read: list[str]) -> None:
    guests = [
        group_message(number, None, f"Forget that{'!' * number}", name=f"G{number}")
        for number in range(1, MAX_NAMED + 20)
    ]

    found = wishes_of(request_of(group_message(0, "bob", "Hello.", name="Bob"), *guests))

    assert len(found.wishes) == MAX_NAMED
    assert len(read) == len(set(read)) == MAX_NAMED


def test_no_message_is_read_for_a_wish_that_names_what_it_means(read: list[str]) -> None:
    greeting, wish = (
        group_message(0, "bob", "Hello.", name="Bob"),
        group_message(1, "ada", "Forget that I smoke.", name="Ada"),
    )

    found = wishes_of(request_of(greeting, wish))

    assert (len(found.wishes), read) == (1, [])
