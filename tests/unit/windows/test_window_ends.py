"""The end of a window: stragglers, later messages, timers and forgetting."""

import pytest

from streams.windows.effects import EndedIncomplete
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, message
from tests.unit.windows.one_window import NOW, POLICY, TERMS, answer, end, positions, say


@pytest.fixture
def window() -> Window:
    return Window.opened(CONVERSATION, partition=2)


def test_an_end_after_its_messages_requests_extraction_of_all_of_them(window):
    say(window, 1, 2, 3, tokens=50)
    assert positions(end(window, log_end=4, read_to=4)) == [[1, 2], [3]]
    assert window.head.ended
    assert window.head.held_end is None


def test_an_end_before_its_messages_is_held_until_they_are_read(window):
    say(window, 1)
    assert end(window, log_end=4, read_to=2) == []
    assert not window.head.ended
    say(window, 2)
    assert window.release(3, TERMS, NOW + 9_999) == []
    say(window, 3)
    assert positions(window.release(4, TERMS, NOW)) == [[1, 2, 3]]
    assert window.head.ended


def test_a_redelivered_end_changes_nothing(window):
    say(window, 1)
    assert len(end(window, offset=5)) == 1
    assert end(window, offset=5) == []
    assert end(window, offset=4) == []
    assert len(window.head.pending) == 1


def test_an_end_that_names_its_last_message_waits_for_that_message(window):
    say(window, 1)
    assert end(window, last_message_id="m3") == []
    say(window, 2)
    assert window.release(1_000, TERMS, NOW + 1) == []
    say(window, 3)
    assert positions(window.release(1_000, TERMS, NOW + 2)) == [[1, 2, 3]]


def test_an_end_with_a_message_count_waits_for_that_many_messages(window):
    say(window, 1)
    assert end(window, message_count=2) == []
    assert not window.add(message(1), 7, 10, always(TERMS), NOW)  # the same message again does not count
    assert window.release(1_000, TERMS, NOW + 1) == []
    say(window, 8)
    assert positions(window.release(1_000, TERMS, NOW + 1)) == [[1, 8]]


def test_messages_already_extracted_count_towards_the_message_count_of_an_end(window):
    say(window, 1, 2)
    (request,) = window.control(control("flush"), 0, TERMS, NOW)
    answer(window, request, 1)
    say(window, 3)
    assert positions(end(window, message_count=3, last_message_id="m2")) == [[3]]


def test_an_end_waits_for_stragglers_no_longer_than_its_bound(window):
    say(window, 1)
    assert end(window, last_message_id="never") == []
    assert window.due(1_000, TERMS, NOW + 29.9) == []
    request, incomplete = window.due(1_000, TERMS, NOW + 30.0)
    assert positions([request]) == [[1]]
    assert incomplete == EndedIncomplete(window.head.scope, 0, 1, None, "never")


def test_an_end_whose_messages_arrive_in_time_is_complete(window):
    say(window, 1)
    assert end(window, message_count=2) == []
    say(window, 2)
    assert positions(window.due(1_000, TERMS, NOW + 30.0)) == [[1, 2]]


def test_the_straggler_bound_does_not_release_an_end_whose_messages_are_not_read_yet(window):
    say(window, 1)
    assert end(window, log_end=10, read_to=2, last_message_id="m9") == []
    assert window.due(9, TERMS, NOW + 10_000) == []
    assert positions(window.due(10, TERMS, NOW + 10_000)[:1]) == [[1]]


def test_a_late_message_reopens_the_window_and_is_extracted_after_silence(window):
    say(window, 1)
    end(window)
    say(window, 2, now=NOW + 5)
    say(window, 3, now=NOW + 10)
    assert window.deadline(POLICY).at == NOW + 30
    assert window.due(1_000, TERMS, NOW + 29.9) == []
    assert positions(window.due(1_000, TERMS, NOW + 30)) == [[2, 3]]
    assert window.due(1_000, TERMS, NOW + 31) == []


def test_a_repeated_message_does_not_set_the_idle_deadline(window):
    say(window, 1)
    end(window)
    window.add(message(1), 7, 10, always(TERMS), NOW)
    assert window.deadline(POLICY).at == NOW + POLICY.reask_after_s  # of the request, and no other


def test_a_held_end_is_due_when_its_messages_are_read(window):
    say(window, 1)
    end(window, log_end=4, read_to=2)
    alarm = window.deadline(POLICY)
    assert not alarm.is_due(3, NOW + 1_000)
    assert alarm.is_due(4, NOW)


def test_a_held_end_that_waits_for_stragglers_is_due_at_its_bound_or_when_they_arrive(window):
    say(window, 1)
    end(window, log_end=0, last_message_id="m2")
    assert not window.deadline(POLICY).is_due(1_000, NOW + 29.9)
    assert window.deadline(POLICY).is_due(1_000, NOW + 30)
    say(window, 2)
    assert window.deadline(POLICY).is_due(1_000, NOW)


def test_the_deadline_is_the_earliest_of_all_pending_deadlines(window):
    say(window, 1)
    end(window)
    assert window.deadline(POLICY).at == NOW + 100
    say(window, 2)
    assert window.deadline(POLICY).at == NOW + 20
    assert not window.deadline(POLICY).is_due(0, NOW + 19.9)
    assert window.deadline(POLICY).is_due(0, NOW + 20)


def test_a_finished_window_expires_after_the_grace_period(window):
    say(window, 1)
    (request,) = end(window)
    assert not window.expired(POLICY, NOW + 1e6)
    answer(window, request, 0, now=NOW + 10)
    assert window.deadline(POLICY).at == NOW + 1_010
    assert not window.expired(POLICY, NOW + 1_009)
    assert window.expired(POLICY, NOW + 1_010)


def test_a_window_with_a_held_end_never_expires(window):
    end(window, log_end=10, read_to=0)
    assert not window.expired(POLICY, NOW + 1e6)
