"""Importance follows the documented formula, term by term, and stays in [0, 1]."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.windows.detectors.traits import (
    CASUAL,
    CORRECTION,
    DIRECTIVE,
    ERROR,
    TASK_COMPLETE,
    TOOL_CALL,
    TOOL_RESULT,
    with_references,
)
from streams.windows.pruning.importance import DAY_S, IMPORTANT, importance, scores
from tests.fakes.message_traits import NOW, turn, windows

FAR = 100  # messages that follow: no boost


def score(traits: int = 0, newer: int = FAR, days: float = 0.0, repeated: bool = False, **fields) -> float:
    message = turn(0, traits=traits, timestamp=NOW - days * DAY_S, **fields)
    return importance(message, newer, NOW, repeated)


@pytest.mark.parametrize(
    ("traits", "expected"),
    [
        (0, 0.5),
        (TOOL_CALL, 0.8),
        (TOOL_RESULT, 0.7),
        (DIRECTIVE, 0.7),
        (ERROR, 0.8),
        (CORRECTION, 0.7),
        (CASUAL, 0.3),
        (TASK_COMPLETE, 0.2),
        (TOOL_RESULT | ERROR, 1.0),
        (DIRECTIVE | TASK_COMPLETE, 0.4),
        (with_references(0, 1), 0.6),
        (with_references(0, 3), 0.8),
        (with_references(CASUAL, 2), 0.5),
    ],
)
def test_each_trait_has_its_weight(traits, expected):
    assert score(traits) == expected


@pytest.mark.parametrize(
    ("newer", "expected"), [(0, 0.9), (4, 0.9), (5, 0.7), (9, 0.7), (10, 0.6), (19, 0.6), (20, 0.5), (500, 0.5)]
)
def test_the_highest_boost_of_recency_applies(newer, expected):
    assert score(newer=newer) == expected


@pytest.mark.parametrize(
    ("days", "expected"), [(-3.0, 0.5), (0.99, 0.5), (1.0, 0.4), (3.5, 0.2), (5.0, 0.0), (40.0, 0.0)]
)
def test_each_whole_day_of_age_lowers_importance_by_a_tenth(days, expected):
    assert score(days=days) == expected


def test_importance_is_clamped_between_zero_and_one():
    assert score(TOOL_CALL | ERROR | DIRECTIVE, newer=0) == 1.0
    assert score(CASUAL | TASK_COMPLETE, days=9) == 0.0


def test_a_system_prompt_scores_one_whatever_its_age():
    assert score(CASUAL, days=90, role="system") == 1.0


def test_a_message_marked_important_never_scores_below_nine_tenths():
    assert score(CASUAL, days=90, important=True) == IMPORTANT == 0.9
    assert score(TOOL_CALL | ERROR, important=True) == 1.0


def test_a_message_that_is_repeated_later_scores_lower():
    assert score(repeated=True) == 0.3
    assert scores([turn(0, fingerprint=9), *[turn(1 + n) for n in range(20)], turn(21, fingerprint=9)], NOW)[0] == 0.3


def test_system_messages_do_not_count_towards_the_recency_of_others():
    turns = [turn(0), *[turn(1 + place, "system") for place in range(30)]]
    assert scores(turns, NOW)[0] == 0.9


@given(windows(), st.floats(-1e9, 1e12))
def test_any_window_scores_between_zero_and_one(turns, now):
    found = scores(turns, now)
    assert len(found) == len(turns)
    assert all(0.0 <= each <= 1.0 for each in found)
    assert all(each >= IMPORTANT for each, message in zip(found, turns, strict=True) if message.important)
