"""Extraction triggers, alone and combined; every message is requested in the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import ValidationError, convert

from schemas.conversations.messages import ToolCall
from schemas.policies.policies import Policy
from schemas.policies.triggers import Schedule, Triggers
from tests.fakes.chats import control
from tests.unit.windows.extraction.talk import NOW, TOKENS, Talk, policy


def test_the_exchange_trigger_requests_extraction_when_the_assistant_has_answered():
    talk = Talk(policy(on_exchange=True))
    for role in ("system", "user", "assistant", "user", "user", "assistant"):
        talk.say(role)
    assert talk.requested_positions == [[0, 1, 2], [3, 4, 5]]


def test_an_exchange_ends_with_the_answer_not_with_the_tool_calls_before_it():
    talk = Talk(policy(on_exchange=True))
    talk.say("user")
    talk.say("assistant", tool_calls=(ToolCall(id="1", name="search"),))
    talk.say("tool", tool_call_id="1")
    assert talk.requested_positions == []
    talk.say("assistant")
    assert talk.requested_positions == [[0, 1, 2, 3]]


def test_an_assistant_message_without_a_user_message_is_no_exchange():
    talk = Talk(policy(on_exchange=True))
    talk.say("assistant")
    talk.restart()
    talk.say("assistant")
    assert talk.requested_positions == []


def test_the_token_trigger_requests_extraction_at_its_threshold_and_restarts_its_count():
    talk = Talk(policy(after_tokens=3 * TOKENS))
    for number in range(7):
        talk.say("user")
        if number % 2:
            talk.restart()
    assert talk.requested_positions == [[0, 1, 2], [3, 4, 5]]


def test_the_first_trigger_requests_extraction_and_later_triggers_do_not_repeat_it():
    talk = Talk(policy(idle_s=60.0, age_s=600.0, after_tokens=2 * TOKENS, on_exchange=True))
    talk.say("user")
    talk.say("user")
    talk.say("assistant")
    talk.ring(NOW + 59)
    assert talk.requested_positions == [[0, 1]]
    talk.ring(NOW + 60)
    talk.end(NOW + 61)
    talk.ring(NOW + 100)
    assert talk.requested_positions == [[0, 1], [2]]


def test_a_manual_flush_requests_extraction_whatever_the_triggers():
    talk = Talk(policy(on_end=False))
    talk.say("user")
    talk.note(talk.window.control(control("flush"), 0, talk.terms, NOW))
    assert talk.requested_positions == [[0]]


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
def test_invalid_triggers_are_rejected(wrong):
    with pytest.raises(ValidationError):
        convert({"name": "p", "triggers": wrong}, Policy)


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
def test_any_combination_of_triggers_requests_every_message_exactly_once(triggers, steps):
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
        alarm = talk.window.deadline(talk.policy).at
        assert alarm is not None
        assert alarm <= now + 86_400 + 1_000
        now = max(now, alarm)
        talk.ring(now)
    assert [position for request in talk.requested_positions for position in request] == list(range(talk.offset))


def test_only_live_flushes_and_exchanges_make_requests_that_may_not_wait():
    for names, may_wait in (
        (lambda talk: talk.end(), True),
        (lambda talk: talk.ring(NOW + 60), True),
        (lambda talk: talk.flush(), False),
        (lambda talk: talk.flush(lane="background"), True),
        (lambda talk: talk.say("assistant"), False),
    ):
        talk = Talk(policy(idle_s=60.0, on_exchange=True))
        talk.say("user")
        names(talk)
        assert [request.may_wait for request in talk.requests] == [may_wait]


def test_a_live_flush_resends_a_request_that_may_wait_exactly_once_as_one_that_may_not():
    talk = Talk(policy())
    talk.say("user")
    talk.end()
    (waiting,) = talk.requests
    assert waiting.may_wait
    talk.flush(0, lane="background")
    assert talk.requests == [waiting], "nobody waits"

    talk.restart()
    talk.flush(1)
    _, hastened = talk.requests
    assert (hastened.request_id, hastened.messages) == (waiting.request_id, waiting.messages)
    assert not hastened.may_wait

    talk.restart()
    talk.flush(1)  # delivered again
    talk.flush(2)
    assert len(talk.requests) == 2
