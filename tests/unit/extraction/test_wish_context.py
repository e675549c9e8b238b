"""Short wishes that may mean something else count only after messages that leave no doubt."""

import pytest
from msgspec.structs import replace

from agents.extraction.wishes import wishes_of
from schemas.extraction.requests import SliceMessage
from tests.builders.groups import group_message, slices_of
from tests.builders.slices import said, slice_of
from tests.builders.wishes import GROUP

LETTER = "Dear Ms Pratt,\nI live at 14 Alder Close and would like to give notice."


def wished_after(*before: SliceMessage, wish: str) -> tuple[str | None, str | None] | None:
    """The topic of the wish, and the id of the message that it means."""
    found = wishes_of(slice_of(*before, said(wish, 9)))
    if not found.wishes:
        return None
    (each,) = found.of(slice_of(*before, said(wish, 9)), "app/user")
    return each.topic, each.means.message_id if each.means else None


def reply(content: str) -> SliceMessage:
    return said(content, 8, role="assistant")


@pytest.mark.parametrize("answer", ["Noted.", "How long have you lived there?"])
def test_delete_that_means_the_statement_before_it(answer: str) -> None:
    assert wished_after(said("I live in Berlin."), reply(answer), wish="Delete that please") == (None, "m1")


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ("Write a letter to my landlord.", LETTER),
        ("I live in Berlin. Write a letter to my landlord.", "Done."),
        ("I live in Berlin.", 'How about this: "I have been living in Berlin for years."'),
        ("Put lunch with my sister on Friday", "Added."),
        ("What is the capital of France?", "Paris."),
        ("Thanks!", "You are welcome."),
        ("I have lunch with my sister on Friday.", "I've put it in your calendar."),
        ("I live in Berlin. Add milk.", "Noted."),
    ],
)
def test_delete_that_after_a_request_a_question_or_a_draft_is_no_wish(before: str, answer: str) -> None:
    assert wished_after(said(before), reply(answer), wish="Delete that please") is None


def test_delete_that_at_the_start_of_a_conversation_or_after_a_tools_result_is_no_wish() -> None:
    assert wished_after(wish="Delete that.") is None
    assert wished_after(said("I live in Berlin."), said("{}", 2, role="tool"), wish="Delete that.") is None


def test_delete_that_of_another_person_is_no_wish() -> None:
    (request,) = slices_of([group_message(0, "ada", "I smoke."), group_message(1, "bob", "Delete that.")], GROUP)
    assert wishes_of(request).wishes == ()


def test_erase_my_birthday_is_a_wish_unless_a_text_was_just_shown() -> None:
    assert wished_after(wish="Please erase my birthday.") == ("my birthday", None)
    assert wished_after(said("Hello!"), reply("Hi!"), wish="Please erase my birthday.") == ("my birthday", None)
    assert wished_after(said("Improve my CV."), reply(LETTER), wish="Please erase my birthday.") is None
    assert wished_after(said("I write novels and edit videos."), reply("Nice!"), wish="Erase my birthday.") is not None
    for asked in (
        "Write my bio in one sentence",
        "Hi! Could you please write my bio?",
        "Kannst du meine Bio schreiben?",
    ):
        bio = (said(asked), reply("Baker from Leeds called Tom, loves dogs."))
        assert wished_after(*bio, wish="Remove my name.") is None
    assert wished_after(wish="Here is my bio: I'm Tom, 45, from Leeds. Remove my age.") is None


def test_dont_remember_my_salary_is_no_wish_after_a_question() -> None:
    wish = "don't remember my salary"
    assert wished_after(said("I earn 50k."), reply("Noted."), wish=wish) == ("my salary", None)
    assert wished_after(said("I need a loan."), reply("How much do you earn?"), wish=wish) is None


def test_messages_before_the_slice_count() -> None:
    request = replace(slice_of(said("Delete that.", 9)), overlap=(said("I smoke a pipe."),))
    (wish,) = wishes_of(request).of(request, "app/user")
    assert wish.means is not None
    assert wish.means.message_id == "m1"
