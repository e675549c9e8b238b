"""A window applies each event once, requests each message once, and forgets a slice only after its answer is stored."""

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


def test_a_message_at_an_offset_already_read_is_not_added(window):
    say(window, 3, 5)
    window.add(message(3), 3, 10, always(TERMS), NOW)
    window.add(message(99), 4, 10, always(TERMS), NOW)
    assert unextracted(window) == [3, 5]
    assert window.head.received == 2


def test_a_message_with_a_known_id_is_not_added(window):
    say(window, 3)
    window.add(message(3), 7, 10, always(TERMS), NOW)
    assert unextracted(window) == [3]
    assert window.head.applied == {topics.MESSAGES: 8}
    assert window.head.received == 1


def test_terms_are_looked_up_with_the_scope_and_model_of_a_message_but_not_for_a_repeated_one(window):
    scopes: list[tuple[str | None, str | None]] = []

    def terms_of(asking: Window) -> Terms:
        scopes.append((asking.head.scope.app_id, asking.head.model))
        return TERMS

    window.add(message(1, app_id="mail"), 1, 10, terms_of, NOW)
    window.add(message(2, model="small"), 2, 10, terms_of, NOW)
    window.add(message(2, model="large"), 3, 10, terms_of, NOW)
    assert scopes == [("mail", None), ("mail", "small")]
    assert window.head.model == "small"


def test_the_first_position_of_a_window_is_that_of_its_first_message_even_after_an_end(window):
    end(window)
    assert window.head.first_position == 0
    say(window, 7, 9)
    assert window.head.first_position == 7
    (request,) = window.control(control("flush"), 1, TERMS, NOW)
    answer(window, request, 2)
    window.control(control("clear"), 3, TERMS, NOW)
    say(window, 12)
    assert window.head.first_position == 7


def test_a_message_id_is_still_known_after_its_message_was_removed(window):
    say(window, 1)
    (request,) = end(window)
    answer(window, request, 0)
    clear_for_good(window, 1)
    assert window.entries == {}
    window.add(message(1), 9, 10, always(TERMS), NOW)
    assert window.entries == {}


def test_the_documented_number_of_message_ids_is_remembered(window):
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


def test_no_message_is_requested_before_the_conversation_ends_or_is_abandoned(window):
    say(window, 1, 2, 3)
    abandoned = NOW + POLICY.triggers.abandoned_s
    assert window.due(1_000, TERMS, abandoned - 1) == []
    assert window.deadline(POLICY) == Deadline(at=abandoned, held_until_offset=None, held_until=0.0)
    assert positions(window.due(1_000, TERMS, abandoned)) == [[1, 2, 3]]


def test_a_flush_requests_the_waiting_messages_once(window):
    say(window, 1, 2)
    assert positions(window.control(control("flush"), 0, TERMS, NOW)) == [[1, 2]]
    assert window.control(control("flush"), 0, TERMS, NOW) == []
    assert window.control(control("flush"), 1, TERMS, NOW) == []
    say(window, 3)
    assert positions(window.control(control("flush"), 2, TERMS, NOW)) == [[3]]


def test_a_request_without_an_answer_is_repeated_with_the_same_id_at_doubling_intervals(window):
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


def test_an_answered_request_is_not_repeated(window):
    say(window, 1, 2, tokens=100)
    first, second = end(window)
    answer(window, first, 0)
    assert [again.request_id for again in window.due(1_000, TERMS, NOW + 100)] == [second.request_id]


def test_a_request_carries_the_messages_before_its_slice_as_overlap_without_requesting_them_again(window):
    say(window, 1, 2, 3, 4, tokens=50)
    first, second = end(window)
    assert [seen.position for seen in first.overlap] == []
    assert [seen.position for seen in second.overlap] == [1, 2]
    say(window, 5)
    *hastened, third = window.control(control("flush"), 0, TERMS, NOW)
    assert [each.request_id for each in hastened] == [first.request_id, second.request_id]
    assert (positions([third]), [seen.position for seen in third.overlap]) == ([[5]], [3, 4])
    again = {following.request_id: following for following in window.due(1_000, TERMS, NOW + 100)}
    assert [seen.position for seen in again[second.request_id].overlap] == [1, 2]


def test_requests_carry_no_preceding_messages_under_a_policy_without_overlap(window):
    alone = terms(structs.replace(POLICY, overlap_messages=0))
    for number in (1, 2, 3):
        window.add(message(number), number, 60, always(alone), NOW)
    assert [each.overlap for each in window.control(control("flush"), 0, alone, NOW)] == [(), (), ()]


def test_answers_in_any_order_complete_their_slices(window):
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
def test_a_completed_or_failed_extraction_finishes_the_window(window, kind):
    say(window, 1)
    (request,) = end(window)
    window.control(control(kind, request_id=request.request_id), 0, TERMS, NOW)
    assert window.head.finished


def test_an_answer_to_an_unknown_or_finished_request_changes_nothing(window):
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


def test_an_answer_does_not_affect_messages_after_its_slice(window):
    say(window, 1, 2)
    (request,) = end(window)
    say(window, 3)
    answer(window, request, 0)
    assert unextracted(window) == [3]


def test_merged_scope_keeps_known_fields_and_fills_in_missing_ones():
    known = Scope(conversation_id="c", app_id="app", user_id=None)
    scope = Scope(conversation_id="c", app_id="other", user_id="user", mode="m")
    assert merged(known, scope) == Scope(conversation_id="c", app_id="app", user_id="user", mode="m")
