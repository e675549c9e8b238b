"""A window applies each event once, asks once for each message, and forgets a slice only when its answer is stored."""

import pytest
from msgspec import structs

from schemas import topics
from schemas.messages import Scope
from schemas.policies import Policy
from streams.windows.seen import REMEMBERED, digest
from streams.windows.window import Alarm, Window, merged
from tests.fakes.chats import CONVERSATION, control, ended, message, terms, unextracted

POLICY = Policy(
    name="small",
    slice_tokens=100,
    straggler_wait_s=30.0,
    late_idle_s=20.0,
    grace_s=1_000.0,
    reask_after_s=100.0,
)
TERMS = terms(POLICY)
NOW = 5_000.0


@pytest.fixture
def window() -> Window:
    return Window.opened(CONVERSATION, partition=2)


def say(window: Window, *numbers: int, now: float = NOW, tokens: int = 10) -> None:
    """Message n lies at offset n."""
    for number in numbers:
        received = window.head.received
        window.add(message(number), number, tokens, TERMS, now)
        assert window.head.received == received + 1


def end(window: Window, offset: int = 0, log_end: int = 0, read_to: int = 1_000, now: float = NOW, **fields):
    return window.end(ended(**fields), offset, log_end, read_to, TERMS, now)


def positions(requests) -> list[list[int]]:
    return [[message.position for message in request.messages] for request in requests]


def answer(window: Window, request, offset: int, now: float = NOW) -> None:
    window.control(control("extraction_completed", request_id=request.request_id), offset, TERMS, now)


def test_a_message_is_taken_in_once_by_position(window):
    say(window, 3, 5)
    window.add(message(3), 3, 10, TERMS, NOW)
    window.add(message(99), 4, 10, TERMS, NOW)
    assert unextracted(window) == [3, 5]
    assert window.head.received == 2


def test_a_message_is_taken_in_once_by_its_id(window):
    say(window, 3)
    window.add(message(3), 7, 10, TERMS, NOW)
    assert unextracted(window) == [3]
    assert window.head.applied == {topics.MESSAGES: 8}
    assert window.head.received == 1


def test_a_window_begins_with_its_first_message_whatever_came_before(window):
    end(window)
    assert window.head.opened == 0
    say(window, 7, 9)
    assert window.head.opened == 7
    (request,) = window.control(control("flush"), 1, TERMS, NOW)
    answer(window, request, 2)
    window.control(control("clear"), 3, TERMS, NOW)
    say(window, 12)
    assert window.head.opened == 7


def test_a_message_id_is_still_known_after_its_message_left(window):
    say(window, 1)
    (request,) = end(window)
    answer(window, request, 0)
    window.control(control("clear"), 1, TERMS, NOW)
    assert window.entries == {}
    window.add(message(1), 9, 10, TERMS, NOW)
    assert window.entries == {}


def test_as_many_ids_are_remembered_as_stated(window):
    say(window, *range(REMEMBERED + 10), tokens=1)
    requests = end(window)
    for offset, request in enumerate(requests):
        answer(window, request, offset)
    window.control(control("clear"), len(requests), TERMS, NOW)
    assert window.entries == {}
    assert window.history.removals.left == tuple(digest(f"m{number}") for number in range(10, REMEMBERED + 10))
    window.add(message(10), 9_000, 10, TERMS, NOW)
    window.add(message(9), 9_001, 10, TERMS, NOW)
    assert unextracted(window) == [9_001]


def test_nothing_is_asked_for_before_the_conversation_ended_or_was_abandoned(window):
    say(window, 1, 2, 3)
    abandoned = NOW + POLICY.triggers.abandoned_s
    assert window.due(1_000, TERMS, abandoned - 1) == []
    assert window.alarm(POLICY) == Alarm(at=abandoned, held_to=None, held_until=0.0)
    assert positions(window.due(1_000, TERMS, abandoned)) == [[1, 2, 3]]


def test_an_end_after_its_messages_asks_for_all_of_them(window):
    say(window, 1, 2, 3, tokens=50)
    assert positions(end(window, log_end=4, read_to=4)) == [[1, 2], [3]]
    assert window.head.ended
    assert window.head.held is None


def test_an_end_before_its_messages_is_held_until_they_are_read(window):
    say(window, 1)
    assert end(window, log_end=4, read_to=2) == []
    assert not window.head.ended
    say(window, 2)
    assert window.release(3, TERMS, NOW + 9_999) == []
    say(window, 3)
    assert positions(window.release(4, TERMS, NOW)) == [[1, 2, 3]]
    assert window.head.ended


def test_an_end_applied_again_changes_nothing(window):
    say(window, 1)
    assert len(end(window, offset=5)) == 1
    assert end(window, offset=5) == []
    assert end(window, offset=4) == []
    assert len(window.head.asked) == 1


def test_an_end_that_names_its_last_message_waits_for_it(window):
    say(window, 1)
    assert end(window, last_message_id="m3") == []
    say(window, 2)
    assert window.release(1_000, TERMS, NOW + 1) == []
    say(window, 3)
    assert positions(window.release(1_000, TERMS, NOW + 2)) == [[1, 2, 3]]


def test_an_end_that_counts_its_messages_waits_for_them(window):
    say(window, 1)
    assert end(window, message_count=2) == []
    assert not window.add(message(1), 7, 10, TERMS, NOW)  # the same message again does not count
    assert window.release(1_000, TERMS, NOW + 1) == []
    say(window, 8)
    assert positions(window.release(1_000, TERMS, NOW + 1)) == [[1, 8]]


def test_messages_that_already_left_count_towards_an_end(window):
    say(window, 1, 2)
    (request,) = window.control(control("flush"), 0, TERMS, NOW)
    answer(window, request, 1)
    say(window, 3)
    assert positions(end(window, message_count=3, last_message_id="m2")) == [[3]]


def test_an_end_waits_for_stragglers_no_longer_than_its_bound(window):
    say(window, 1)
    assert end(window, last_message_id="never") == []
    assert window.due(1_000, TERMS, NOW + 29.9) == []
    assert positions(window.due(1_000, TERMS, NOW + 30.0)) == [[1]]


def test_the_straggler_bound_does_not_release_an_end_whose_messages_are_not_read_yet(window):
    say(window, 1)
    assert end(window, log_end=10, read_to=2, last_message_id="m9") == []
    assert window.due(9, TERMS, NOW + 10_000) == []
    assert len(window.due(10, TERMS, NOW + 10_000)) == 1


def test_a_late_message_reopens_the_window_and_is_extracted_after_silence(window):
    say(window, 1)
    end(window)
    say(window, 2, now=NOW + 5)
    say(window, 3, now=NOW + 10)
    assert window.alarm(POLICY).at == NOW + 30
    assert window.due(1_000, TERMS, NOW + 29.9) == []
    assert positions(window.due(1_000, TERMS, NOW + 30)) == [[2, 3]]
    assert window.due(1_000, TERMS, NOW + 31) == []


def test_a_message_that_is_a_repetition_does_not_arm_the_idle_deadline(window):
    say(window, 1)
    end(window)
    window.add(message(1), 7, 10, TERMS, NOW)
    assert window.alarm(POLICY).at == NOW + POLICY.reask_after_s  # of the request, and no other


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
        assert window.alarm(POLICY).at == now
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
    (third,) = window.control(control("flush"), 0, TERMS, NOW)
    assert (positions([third]), [seen.position for seen in third.overlap]) == ([[5]], [3, 4])
    again = {asked.request_id: asked for asked in window.due(1_000, TERMS, NOW + 100)}
    assert [seen.position for seen in again[second.request_id].overlap] == [1, 2]


def test_no_message_goes_with_a_slice_under_a_policy_without_overlap(window):
    alone = terms(structs.replace(POLICY, overlap_messages=0))
    for number in (1, 2, 3):
        window.add(message(number), number, 60, alone, NOW)
    assert [asked.overlap for asked in window.control(control("flush"), 0, alone, NOW)] == [(), (), ()]


def test_answered_slices_leave_in_whatever_order_their_answers_come(window):
    say(window, 1, 2, 3, tokens=100)
    requests = end(window)
    answer(window, requests[2], 0)
    assert unextracted(window) == [1, 2]
    answer(window, requests[0], 1)
    assert unextracted(window) == [2]
    assert not window.finished
    answer(window, requests[1], 2)
    assert window.finished


@pytest.mark.parametrize("kind", ["extraction_completed", "extraction_failed"])
def test_an_answer_counts_whether_it_is_stored_or_will_never_come(window, kind):
    say(window, 1)
    (request,) = end(window)
    window.control(control(kind, request_id=request.request_id), 0, TERMS, NOW)
    assert window.finished


def test_an_answer_that_nobody_waits_for_changes_nothing(window):
    say(window, 1)
    (request,) = end(window)
    window.control(control("extraction_completed", request_id="unknown"), 0, TERMS, NOW + 1)
    window.control(control("extraction_completed"), 1, TERMS, NOW + 1)
    assert unextracted(window) == [1]
    answer(window, request, 2)
    touched = window.head.touched_at
    answer(window, request, 3, now=NOW + 50)
    assert window.head.touched_at == touched
    assert unextracted(window) == []


def test_an_answer_leaves_messages_alone_that_came_after_its_slice(window):
    say(window, 1, 2)
    (request,) = end(window)
    say(window, 3)
    answer(window, request, 0)
    assert unextracted(window) == [3]


def test_a_held_end_rings_when_its_messages_are_read(window):
    say(window, 1)
    end(window, log_end=4, read_to=2)
    alarm = window.alarm(POLICY)
    assert not alarm.rings(3, NOW + 1_000)
    assert alarm.rings(4, NOW)


def test_a_held_end_that_waits_for_stragglers_rings_at_its_bound_or_when_they_are_there(window):
    say(window, 1)
    end(window, log_end=0, last_message_id="m2")
    assert not window.alarm(POLICY).rings(1_000, NOW + 29.9)
    assert window.alarm(POLICY).rings(1_000, NOW + 30)
    say(window, 2)
    assert window.alarm(POLICY).rings(1_000, NOW)


def test_the_alarm_is_the_earliest_of_what_is_waited_for(window):
    say(window, 1)
    end(window)
    assert window.alarm(POLICY).at == NOW + 100
    say(window, 2)
    assert window.alarm(POLICY).at == NOW + 20
    assert not window.alarm(POLICY).rings(0, NOW + 19.9)
    assert window.alarm(POLICY).rings(0, NOW + 20)


def test_a_finished_window_is_forgotten_after_the_grace_period(window):
    say(window, 1)
    (request,) = end(window)
    assert not window.expired(POLICY, NOW + 1e6)
    answer(window, request, 0, now=NOW + 10)
    assert window.alarm(POLICY).at == NOW + 1_010
    assert not window.expired(POLICY, NOW + 1_009)
    assert window.expired(POLICY, NOW + 1_010)


def test_a_window_with_a_held_end_is_not_forgotten(window):
    end(window, log_end=10, read_to=0)
    assert not window.expired(POLICY, NOW + 1e6)


def test_a_conversation_does_not_change_its_owner_half_way():
    known = Scope(conversation_id="c", app_id="app", user_id=None)
    told = Scope(conversation_id="c", app_id="other", user_id="user", mode="m")
    assert merged(known, told) == Scope(conversation_id="c", app_id="app", user_id="user", mode="m")
