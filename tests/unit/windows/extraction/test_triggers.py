"""Triggers, alone and together: what asks for extraction, when, and that nothing is left in the end."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import ValidationError, convert

from schemas.conversations.messages import ToolCall
from schemas.extraction.requests import ExtractionRequest
from schemas.policies.policies import Policy, Schedule, Triggers
from streams.windows.extraction.progress import MOST_ASKED
from streams.windows.extraction.triggers import RUN_WITHIN_S, next_run
from streams.windows.rows import rows
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, ended, message, requests_among, terms

NOW = 1_800_000_000.0
TOKENS = 10


def policy(**triggers: Any) -> Policy:
    return Policy(
        name="p",
        triggers=Triggers(**({"abandoned_s": 100_000.0} | triggers)),
        late_idle_s=30.0,
        grace_s=1e9,
        reask_after_s=1e9,
    )


class Talk:
    """A conversation, message by message; `asked` are the positions of each request so far."""

    def __init__(self, chosen: Policy) -> None:
        self.policy, self.terms = chosen, terms(chosen)
        self.window = Window.opened(CONVERSATION, 0)
        self.asked: list[list[int]] = []
        self.requests: list[ExtractionRequest] = []
        self.offset = 0
        self.stored: dict[bytes, bytes | None] = {}

    def note(self, requests) -> None:
        self.requests += requests_among(requests)
        self.asked = [[each.position for each in request.messages] for request in self.requests]

    def say(self, role: str, now: float = NOW, **fields: Any) -> None:
        said = message(self.offset, role=role, **fields)
        self.note(self.window.add(said, self.offset, TOKENS, always(self.terms), now))
        self.offset += 1

    def end(self, now: float = NOW) -> None:
        self.note(self.window.end(ended(), 0, 0, 1_000, self.terms, now))

    def ring(self, now: float) -> None:
        self.note(self.window.due(1_000, self.terms, now))

    def answer(self, request: ExtractionRequest, now: float) -> None:
        told = control("extraction_completed", request_id=request.request_id)
        self.note(self.window.control(told, request.last, self.terms, now))

    def restart(self) -> None:
        """The window as its rows describe it."""
        self.stored |= rows.save(self.window)
        self.window = rows.load(CONVERSATION, self.stored.get) or Window.opened(CONVERSATION, 0)


def test_every_exchange_is_asked_for_when_the_assistant_has_answered():
    talk = Talk(policy(on_exchange=True))
    for role in ("system", "user", "assistant", "user", "user", "assistant"):
        talk.say(role)
    assert talk.asked == [[0, 1, 2], [3, 4, 5]]


def test_an_exchange_ends_with_the_answer_not_with_the_tool_calls_before_it():
    talk = Talk(policy(on_exchange=True))
    talk.say("user")
    talk.say("assistant", tool_calls=(ToolCall(id="1", name="search"),))
    talk.say("tool", tool_call_id="1")
    assert talk.asked == []
    talk.say("assistant")
    assert talk.asked == [[0, 1, 2, 3]]


def test_what_an_assistant_says_by_itself_is_no_exchange():
    talk = Talk(policy(on_exchange=True))
    talk.say("assistant")
    talk.restart()
    talk.say("assistant")
    assert talk.asked == []


def test_so_many_tokens_are_asked_for_at_once_and_counted_anew():
    talk = Talk(policy(after_tokens=3 * TOKENS))
    for number in range(7):
        talk.say("user")
        if number % 2:
            talk.restart()
    assert talk.asked == [[0, 1, 2], [3, 4, 5]]


def test_silence_is_counted_from_the_last_message():
    talk = Talk(policy(idle_s=60.0))
    talk.say("user", NOW)
    talk.say("user", NOW + 50)
    talk.restart()
    assert talk.window.alarm(talk.policy).at == NOW + 110
    talk.ring(NOW + 109)
    assert talk.asked == []
    talk.ring(NOW + 110)
    assert talk.asked == [[0, 1]]


def test_age_is_counted_from_the_oldest_message_that_waits():
    talk = Talk(policy(age_s=60.0))
    talk.say("user", NOW)
    talk.say("user", NOW + 50)
    talk.restart()
    talk.ring(NOW + 60)
    talk.say("user", NOW + 70)
    assert talk.window.alarm(talk.policy).at == NOW + 130
    assert talk.asked == [[0, 1]]


def test_whichever_trigger_comes_first_asks_and_the_others_find_nothing():
    talk = Talk(policy(idle_s=60.0, age_s=600.0, after_tokens=2 * TOKENS, on_exchange=True))
    talk.say("user")
    talk.say("user")
    talk.say("assistant")
    talk.ring(NOW + 59)
    assert talk.asked == [[0, 1]]
    talk.ring(NOW + 60)
    talk.end(NOW + 61)
    talk.ring(NOW + 100)
    assert talk.asked == [[0, 1], [2]]


def test_without_the_trigger_of_the_end_what_is_left_is_asked_for_after_silence():
    talk = Talk(policy(on_end=False))
    talk.say("user")
    talk.end()
    assert talk.asked == []
    talk.ring(NOW + 30)
    assert talk.asked == [[0]]


def test_by_hand_is_always_possible():
    talk = Talk(policy(on_end=False))
    talk.say("user")
    talk.note(talk.window.control(control("flush"), 0, talk.terms, NOW))
    assert talk.asked == [[0]]


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


def test_a_schedule_asks_for_what_was_said_before_its_next_moment_where_no_run_has_done_so_within_a_quarter_of_an_hour():
    talk = Talk(policy(schedule=Schedule(at="03:00"), on_end=False))
    talk.say("user", UTC_NOON)
    at = talk.window.alarm(talk.policy).at
    assert at == datetime(2026, 3, 29, 3, 15, tzinfo=UTC).timestamp()
    talk.ring(at - 1)
    assert talk.asked == []
    talk.ring(at)
    assert talk.asked == [[0]]


def test_a_run_asks_in_the_background_and_leaves_the_schedule_nothing_to_ask_for():
    talk = Talk(policy(schedule=Schedule(at="03:00"), on_end=False, abandoned_s=1e9))
    talk.say("user", UTC_NOON)
    run = datetime(2026, 3, 29, 3, tzinfo=UTC).timestamp()
    talk.note(talk.window.control(control("flush", lane="background"), 0, talk.terms, run))
    talk.ring(run + RUN_WITHIN_S)
    assert [(request.lane, request.first) for request in talk.requests] == [("background", 0)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"schedule": {"at": "24:00"}},
        {"schedule": {"at": "03:00", "time_zone": "Mars/Base"}},
        {"schedule": {"at": "03:00", "weekdays": ["someday"]}},
        {"after_tokens": 0},
        {"idle_s": 0},
        {"whenever": True},
    ],
)
def test_wrong_triggers_are_refused(wrong):
    with pytest.raises(ValidationError):
        convert({"name": "p", "triggers": wrong}, Policy)


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
def test_only_what_a_schedule_or_abandonment_asks_for_is_background_work(triggers, after_s, lane):
    talk = Talk(policy(**triggers))
    talk.say("user")
    talk.ring(NOW + after_s)
    assert [request.lane for request in talk.requests] == [lane]


def test_what_the_end_of_a_conversation_asks_for_is_live():
    talk = Talk(policy(schedule=Schedule(at="03:00")))
    talk.say("user")
    talk.end()
    assert [request.lane for request in talk.requests] == ["live"]


def test_a_request_asked_again_keeps_its_lane_and_its_id():
    talk = Talk(msgspec.structs.replace(policy(schedule=Schedule(at="03:00")), reask_after_s=60.0))
    talk.say("user")
    talk.ring(NOW + 86_400.0)
    talk.restart()
    talk.ring(NOW + 86_500.0)
    first, again = talk.requests
    assert (first.lane, again.lane) == ("background", "background")
    assert (first.attempt, again.attempt) == (1, 2)
    assert first.request_id == again.request_id


def test_what_waits_behind_a_bound_of_requests_is_asked_for_in_the_lane_of_those_before_it():
    talk = Talk(msgspec.structs.replace(policy(schedule=Schedule(at="03:00")), slice_tokens=100))
    for _ in range(10 * (MOST_ASKED + 1)):
        talk.say("user")
    talk.ring(NOW + 86_400.0)
    assert len(talk.requests) == MOST_ASKED
    talk.answer(talk.requests[0], NOW + 86_401.0)
    assert {request.lane for request in talk.requests} == {"background"}
    assert len(talk.requests) == MOST_ASKED + 1


chosen = st.builds(
    Triggers,
    on_end=st.booleans(),
    on_exchange=st.booleans(),
    after_tokens=st.none() | st.integers(1, 50),
    idle_s=st.none() | st.floats(1, 100),
    age_s=st.none() | st.floats(1, 100),
    schedule=st.none() | st.just(Schedule(at="03:00")),
    abandoned_s=st.floats(1, 1_000),
)
roles = st.sampled_from(["user", "assistant", "tool", "system"])
steps = st.lists(
    st.tuples(st.sampled_from(["say", "say", "end", "ring", "restart"]), roles, st.floats(0, 50)), max_size=30
)


@given(chosen, steps)
def test_whatever_the_combination_every_message_is_asked_for_once_in_the_end(triggers, steps):
    talk, now = Talk(Policy(name="p", triggers=triggers, reask_after_s=1e9)), NOW
    for what, role, pause in steps:
        now += pause
        match what:
            case "say":
                talk.say(role, now)
            case "end":
                talk.end(now)
            case "ring":
                talk.ring(now)
            case "restart":
                talk.restart()
    while talk.window.head.waiting_since:
        alarm = talk.window.alarm(talk.policy).at
        assert alarm is not None
        assert alarm <= now + 86_400 + 1_000
        now = max(now, alarm)
        talk.ring(now)
    assert [position for request in talk.asked for position in request] == list(range(talk.offset))


@given(st.lists(st.integers(0, 9 * 86_400), min_size=2, max_size=20))
def test_the_next_run_is_right_in_whatever_order_windows_ask(offsets):
    schedule = Schedule(at="02:30", weekdays=("mon", "wed"))
    nights = [datetime(2026, 3, 29, 2, 30, tzinfo=UTC).timestamp() + day * 86_400 for day in range(14)]
    runs = [night for night in nights if datetime.fromtimestamp(night, UTC).weekday() in (0, 2)]
    for after in [UTC_NOON + offset for offset in offsets]:
        assert next_run(schedule, after) == min(run for run in runs if run > after)
