"""A window applies each event once, asks once for each message, and forgets a slice only when its answer is stored."""

import pytest
from msgspec import structs

from schemas.conversations.messages import Scope
from schemas.kafka import topics
from streams.windows.arrival import merged
from streams.windows.deadline import Deadline
from streams.windows.seen_messages import REMEMBERED, digest
from streams.windows.terms import Terms
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, message, terms, unextracted
from tests.unit.windows.one_window import NOW, POLICY, TERMS, answer, clear_for_good, end, positions, say


@pytest.fixture
def window() -> Window:
    return Window.opened(CONVERSATION, partition=2)


def test_a_message_is_taken_in_once_by_position(window):
    say(window, 3, 5)
    window.add(message(3), 3, 10, always(TERMS), NOW)
    window.add(message(99), 4, 10, always(TERMS), NOW)
    assert unextracted(window) == [3, 5]
    assert window.head.received == 2


def test_a_message_is_taken_in_once_by_its_id(window):
    say(window, 3)
    window.add(message(3), 7, 10, always(TERMS), NOW)
    assert unextracted(window) == [3]
    assert window.head.applied == {topics.MESSAGES: 8}
    assert window.head.received == 1


def test_terms_are_those_of_what_a_message_tells_and_one_that_was_there_tells_nothing(window):
    asked: list[tuple[str | None, str | None]] = []

    def terms_of(asking: Window) -> Terms:
        asked.append((asking.head.scope.app_id, asking.head.model))
        return TERMS

    window.add(message(1, app_id="mail"), 1, 10, terms_of, NOW)
    window.add(message(2, model="small"), 2, 10, terms_of, NOW)
    window.add(message(2, model="large"), 3, 10, terms_of, NOW)
    assert asked == [("mail", None), ("mail", "small")]
    assert window.head.model == "small"


def test_a_window_begins_with_its_first_message_whatever_came_before(window):
    end(window)
    assert window.head.first_position == 0
    say(window, 7, 9)
    assert window.head.first_position == 7
    (request,) = window.control(control("flush"), 1, TERMS, NOW)
    answer(window, request, 2)
    window.control(control("clear"), 3, TERMS, NOW)
    say(window, 12)
    assert window.head.first_position == 7


def test_a_message_id_is_still_known_after_its_message_left(window):
    say(window, 1)
    (request,) = end(window)
    answer(window, request, 0)
    clear_for_good(window, 1)
    assert window.entries == {}
    window.add(message(1), 9, 10, always(TERMS), NOW)
    assert window.entries == {}


def test_as_many_ids_are_remembered_as_stated(window):
    say(window, *range(REMEMBERED + 10), tokens=1)
    requests = end(window)
    for offset, request in enumerate(requests):
        answer(window, request, offset)
    clear_for_good(window, len(requests))
    assert window.entries == {}
    assert window.history.removals.removed_digests == tuple(
        digest(f"m{number}") for number in range(10, REMEMBERED + 10)
    )
    window.add(message(10), 9_000, 10, always(TERMS), NOW)
    window.add(message(9), 9_001, 10, always(TERMS), NOW)
    assert unextracted(window) == [9_001]


def test_nothing_is_asked_for_before_the_conversation_ended_or_was_abandoned(window):
    say(window, 1, 2, 3)
    abandoned = NOW + POLICY.triggers.abandoned_s
    assert window.due(1_000, TERMS, abandoned - 1) == []
    assert window.deadline(POLICY) == Deadline(at=abandoned, held_until_offset=None, held_until=0.0)
    assert positions(window.due(1_000, TERMS, abandoned)) == [[1, 2, 3]]


def test_a_flush_asks_for_what_is_there_and_once(window):
    say(window, 1, 2)
    assert positions(window.control(control("flush"), 0, TERMS, NOW)) == [[1, 2]]
    assert window.control(control("flush"), 0, TERMS, NOW) == []
    assert window.control(control("flush"), 1, TERMS, NOW) == []
    say(window, 3)
    assert positions(window.control(control("flush"), 2, TERMS, NOW)) == [[3]]


def test_a_request_without_an_answer_is_asked_again_with_the_same_id_at_doubling_intervals(window):
    say(window, 1, 2)
    (first,) = end(window)
    now = NOW
    for attempt, wait in enumerate((100.0, 200.0, 400.0, 800.0), start=2):
        assert window.due(1_000, TERMS, now + wait - 0.1) == []
        now += wait
        assert window.deadline(POLICY).at == now
        (again,) = window.due(1_000, TERMS, now)
        assert (again.request_id, again.attempt) == (first.request_id, attempt)
        assert again.messages == first.messages


def test_what_was_answered_is_not_asked_again(window):
    say(window, 1, 2, tokens=100)
    first, second = end(window)
    answer(window, first, 0)
    assert [again.request_id for again in window.due(1_000, TERMS, NOW + 100)] == [second.request_id]


def test_a_request_shows_the_messages_before_its_slice_and_does_not_ask_for_them_again(window):
    say(window, 1, 2, 3, 4, tokens=50)
    first, second = end(window)
    assert [seen.position for seen in first.overlap] == []
    assert [seen.position for seen in second.overlap] == [1, 2]
    say(window, 5)
    *hastened, third = window.control(control("flush"), 0, TERMS, NOW)
    assert [each.request_id for each in hastened] == [first.request_id, second.request_id]
    assert (positions([third]), [seen.position for seen in third.overlap]) == ([[5]], [3, 4])
    again = {asked.request_id: asked for asked in window.due(1_000, TERMS, NOW + 100)}
    assert [seen.position for seen in again[second.request_id].overlap] == [1, 2]


def test_no_message_goes_with_a_slice_under_a_policy_without_overlap(window):
    alone = terms(structs.replace(POLICY, overlap_messages=0))
    for number in (1, 2, 3):
        window.add(message(number), number, 60, always(alone), NOW)
    assert [asked.overlap for asked in window.control(control("flush"), 0, alone, NOW)] == [(), (), ()]


def test_answered_slices_leave_in_whatever_order_their_answers_come(window):
    say(window, 1, 2, 3, tokens=100)
    requests = end(window)
    answer(window, requests[2], 0)
    assert unextracted(window) == [1, 2]
    answer(window, requests[0], 1)
    assert unextracted(window) == [2]
    assert not window.head.finished
    answer(window, requests[1], 2)
    assert window.head.finished


@pytest.mark.parametrize("kind", ["extraction_completed", "extraction_failed"])
def test_an_answer_counts_whether_it_is_stored_or_will_never_come(window, kind):
    say(window, 1)
    (request,) = end(window)
    window.control(control(kind, request_id=request.request_id), 0, TERMS, NOW)
    assert window.head.finished


def test_an_answer_that_nobody_waits_for_changes_nothing(window):
    say(window, 1)
    (request,) = end(window)
    window.control(control("extraction_completed", request_id="unknown"), 0, TERMS, NOW + 1)
    window.control(control("extraction_completed"), 1, TERMS, NOW + 1)
    assert unextracted(window) == [1]
    answer(window, request, 2)
    touched = window.head.changed_at
    answer(window, request, 3, now=NOW + 50)
    assert window.head.changed_at == touched
    assert unextracted(window) == []


def test_an_answer_leaves_messages_alone_that_came_after_its_slice(window):
    say(window, 1, 2)
    (request,) = end(window)
    say(window, 3)
    answer(window, request, 0)
    assert unextracted(window) == [3]


def test_a_conversation_does_not_change_its_owner_half_way():
    known = Scope(conversation_id="c", app_id="app", user_id=None)
    told = Scope(conversation_id="c", app_id="other", user_id="user", mode="m")
    assert merged(known, told) == Scope(conversation_id="c", app_id="app", user_id="user", mode="m")
