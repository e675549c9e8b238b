"""Segments begin with user messages and pauses; the steps of an assistant stay together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.windows.detectors.detect import detect
from streams.windows.detectors.traits import TASK_BEGINS, TASK_COMPLETE, TASK_SWITCHES
from streams.windows.segments import Segmentation, finished, segmentation_after

GAP_S = 3_600.0


def numbers(*said: tuple[str, str], every_s: float = 60.0) -> list[int]:
    state, found = Segmentation(), []
    for place, (role, text) in enumerate(said):
        state = segmentation_after(state, role, detect(role, text).traits, place * every_s, text, GAP_S)
        found.append(state.segment)
    return found


def test_one_task_is_one_segment():
    assert numbers(("system", "Be kind."), ("user", "Hello"), ("assistant", "Hi"), ("user", "Sum 2 and 3")) == [0] * 4


def test_an_announcement_of_a_new_topic_begins_a_segment():
    said = [("user", "Refactor this"), ("assistant", "Which part?"), ("user", "Next topic: the slides.")]
    assert numbers(*said) == [0, 0, 1]


def test_a_request_begins_a_segment_if_the_previous_task_is_complete():
    said = [("user", "Refactor this"), ("assistant", "Task complete."), ("user", "Can you write the tests?")]
    assert numbers(*said) == [0, 0, 1]
    assert numbers(said[0], ("assistant", "Which part?"), said[2]) == [0, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!",
        "No, that's wrong.",
        "It doesn't work.",
        "Can you also rename the file?",
        "Why did you choose that?",
        "Can you explain what you said about the file?",
    ],
)
def test_thanks_corrections_and_questions_continue_the_completed_task(text):
    assert numbers(("user", "Refactor this"), ("assistant", "Task complete."), ("user", text)) == [0, 0, 0]


def test_thanks_leave_a_task_complete_and_a_question_reopens_it():
    done = [("user", "Refactor this"), ("assistant", "Task complete.")]
    assert numbers(*done, ("user", "Thanks!"), ("user", "Please write the tests"))[-1] == 1
    assert numbers(*done, ("user", "Why this way?"), ("assistant", "It is simpler."), ("user", "Please go on"))[-1] == 0


def test_a_pause_before_a_user_message_begins_a_segment_and_one_before_an_answer_does_not():
    said = [("user", "Build it"), ("assistant", "It takes long."), ("tool", "built"), ("user", "And?")]
    assert numbers(*said, every_s=GAP_S) == [0, 0, 0, 1]
    assert numbers(*said, every_s=GAP_S - 1) == [0, 0, 0, 0]


def at(*times_s: float) -> int:
    """The number of the task that a user's last message at these times belongs to."""
    state = Segmentation()
    for time_s in times_s:
        state = segmentation_after(state, "user", 0, time_s, "and then", GAP_S)
    return state.segment


def test_a_timestamp_slightly_in_the_past_is_not_taken_for_a_pause():
    assert at(50_000.0, 47_000.0, 50_700.0) == 0


def test_one_timestamp_far_in_the_future_does_not_hide_later_pauses():
    assert at(50_000.0, 10.0**9, 50_060.0, 50_060.0 + 3 * GAP_S) == 2


def test_the_first_message_begins_no_new_segment():
    assert numbers(("user", "Next topic: the slides.")) == [0]


def test_tasks_marked_complete_or_followed_by_a_switch_are_finished_and_paused_ones_are_not():
    assert finished({0: TASK_COMPLETE, 1: 0, 2: TASK_BEGINS | TASK_SWITCHES, 3: TASK_BEGINS, 4: 0}, 4) == {0, 1}
    assert finished({0: TASK_COMPLETE}, 0) == set()
    assert finished({}, 0) == set()


def test_a_switch_finishes_only_the_directly_preceding_task():
    assert finished({0: 0, 2: TASK_SWITCHES}, 2) == set()


@given(
    st.lists(
        st.tuples(st.sampled_from(["user", "assistant", "tool", "system"]), st.integers(0, 1023), st.floats(0, 1e6)),
        max_size=30,
    )
)
def test_segment_numbers_grow_by_at_most_one_and_only_at_user_messages(messages):
    state = Segmentation()
    for role, traits, at in messages:
        before, state = state, segmentation_after(state, role, traits, at, "now write it", GAP_S)
        assert state.segment - before.segment in ((0, 1) if role == "user" else (0,))
