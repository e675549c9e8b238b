"""Triggers by time: silence, age, abandonment and schedules, and their lanes."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.policies.triggers import Schedule
from streams.windows.extraction.progress import MAX_PENDING_REQUESTS
from streams.windows.extraction.triggers import RUN_WITHIN_S, next_run
from tests.fakes.chats import control
from tests.unit.windows.extraction.talk import NOW, Talk, policy


def test_the_idle_trigger_counts_from_the_last_message():
    talk = Talk(policy(idle_s=60.0))
    talk.say("user", NOW)
    talk.say("user", NOW + 50)
    talk.restart()
    assert talk.window.deadline(talk.policy).at == NOW + 110
    talk.ring(NOW + 109)
    assert talk.requested_positions == []
    talk.ring(NOW + 110)
    assert talk.requested_positions == [[0, 1]]


def test_the_age_trigger_counts_from_the_oldest_waiting_message():
    talk = Talk(policy(age_s=60.0))
    talk.say("user", NOW)
    talk.say("user", NOW + 50)
    talk.restart()
    talk.ring(NOW + 60)
    talk.say("user", NOW + 70)
    assert talk.window.deadline(talk.policy).at == NOW + 130
    assert talk.requested_positions == [[0, 1]]


def test_without_the_end_trigger_remaining_messages_are_requested_after_silence():
    talk = Talk(policy(on_end=False))
    talk.say("user")
    talk.end()
    assert talk.requested_positions == []
    talk.ring(NOW + 30)
    assert talk.requested_positions == [[0]]


UTC_NOON = datetime(2026, 3, 28, 12, tzinfo=UTC).timestamp()  # a Saturday; clocks in Lisbon change the night after


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (Schedule(at="03:00"), datetime(2026, 3, 29, 3, tzinfo=UTC)),
        (Schedule(at="12:01"), datetime(2026, 3, 28, 12, 1, tzinfo=UTC)),
        (Schedule(at="12:00"), datetime(2026, 3, 29, 12, tzinfo=UTC)),
        (Schedule(at="03:00", time_zone="Europe/Lisbon"), datetime(2026, 3, 29, 2, tzinfo=UTC)),
        (Schedule(at="03:00", time_zone="America/New_York"), datetime(2026, 3, 29, 7, tzinfo=UTC)),
        (Schedule(at="03:00", weekdays=("mon", "fri")), datetime(2026, 3, 30, 3, tzinfo=UTC)),
        (Schedule(at="11:00", weekdays=("sat",)), datetime(2026, 4, 4, 11, tzinfo=UTC)),
    ],
)
def test_a_schedule_runs_at_its_next_moment_in_its_time_zone(schedule, expected):
    assert next_run(schedule, UTC_NOON) == expected.timestamp()


def test_a_schedule_requests_extraction_15_minutes_late_if_no_run_has_requested_it_before():
    talk = Talk(policy(schedule=Schedule(at="03:00"), on_end=False))
    talk.say("user", UTC_NOON)
    at = talk.window.deadline(talk.policy).at
    assert at == datetime(2026, 3, 29, 3, 15, tzinfo=UTC).timestamp()
    talk.ring(at - 1)
    assert talk.requested_positions == []
    talk.ring(at)
    assert talk.requested_positions == [[0]]


def test_a_run_requests_extraction_in_the_background_and_the_schedule_adds_no_request():
    talk = Talk(policy(schedule=Schedule(at="03:00"), on_end=False, abandoned_s=1e9))
    talk.say("user", UTC_NOON)
    run = datetime(2026, 3, 29, 3, tzinfo=UTC).timestamp()
    talk.note(talk.window.control(control("flush", lane="background"), 0, talk.terms, run))
    talk.ring(run + RUN_WITHIN_S)
    assert [(request.lane, request.first) for request in talk.requests] == [("background", 0)]


@pytest.mark.parametrize(
    ("triggers", "after_s", "lane"),
    [
        ({}, 100_000.0, "background"),
        ({"schedule": Schedule(at="03:00")}, 86_400.0, "background"),
        ({"idle_s": 10.0}, 10.0, "live"),
        ({"age_s": 10.0}, 10.0, "live"),
        ({"schedule": Schedule(at="03:00"), "idle_s": 10.0}, 86_400.0, "live"),
    ],
)
def test_only_schedules_and_abandonment_request_extraction_in_the_background_lane(triggers, after_s, lane):
    talk = Talk(policy(**triggers))
    talk.say("user")
    talk.ring(NOW + after_s)
    assert [request.lane for request in talk.requests] == [lane]


def test_the_end_of_a_conversation_requests_extraction_in_the_live_lane():
    talk = Talk(policy(schedule=Schedule(at="03:00")))
    talk.say("user")
    talk.end()
    assert [request.lane for request in talk.requests] == ["live"]


def test_a_repeated_request_keeps_its_lane_and_id():
    talk = Talk(msgspec.structs.replace(policy(schedule=Schedule(at="03:00")), reask_after_s=60.0))
    talk.say("user")
    talk.ring(NOW + 86_400.0)
    talk.restart()
    talk.ring(NOW + 86_500.0)
    first, again = talk.requests
    assert (first.lane, again.lane) == ("background", "background")
    assert (first.attempt, again.attempt) == (1, 2)
    assert first.request_id == again.request_id


def test_messages_behind_the_pending_request_bound_are_requested_in_the_lane_of_earlier_ones():
    talk = Talk(msgspec.structs.replace(policy(schedule=Schedule(at="03:00")), slice_tokens=100))
    for _ in range(10 * (MAX_PENDING_REQUESTS + 1)):
        talk.say("user")
    talk.ring(NOW + 86_400.0)
    assert len(talk.requests) == MAX_PENDING_REQUESTS
    talk.answer(talk.requests[0], NOW + 86_401.0)
    assert {request.lane for request in talk.requests} == {"background"}
    assert len(talk.requests) == MAX_PENDING_REQUESTS + 1


@given(st.lists(st.integers(0, 9 * 86_400), min_size=2, max_size=20))
def test_next_run_is_correct_for_queries_in_any_order(offsets):
    schedule = Schedule(at="02:30", weekdays=("mon", "wed"))
    nights = [datetime(2026, 3, 29, 2, 30, tzinfo=UTC).timestamp() + day * 86_400 for day in range(14)]
    runs = [night for night in nights if datetime.fromtimestamp(night, UTC).weekday() in (0, 2)]
    for after in [UTC_NOON + offset for offset in offsets]:
        assert next_run(schedule, after) == min(run for run in runs if run > after)
