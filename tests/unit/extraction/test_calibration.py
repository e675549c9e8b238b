"""What calls teach: learned beside the work, which it neither delays nor fails."""

import asyncio
import logging
from collections import deque

import pytest

from agents.extraction.calibration import MAX_PENDING, CalibrationLearner
from agents.models.port import Call
from schemas.conversations.windows import Calibration
from schemas.errors import Retryable
from tests.fakes.calibrations import FakeCalibrations

CALLS = (Call(counted_tokens=1_000, billed_tokens=1_200), Call(counted_tokens=1_000, billed_tokens=1_400))


async def test_each_call_is_one_observation():
    calibrations = FakeCalibrations()
    CalibrationLearner(calibrations).learn("claude-a", CALLS)
    await asyncio.sleep(1)
    assert calibrations.known == {"claude-a": Calibration(pytest.approx(1.3), 2)}


@pytest.mark.parametrize("error", [Retryable("postgres away"), ValueError("a bug")])
async def test_a_store_that_fails_is_a_word_in_the_log(caplog, error):
    calibrations = FakeCalibrations(failures=deque([error]))
    teacher = CalibrationLearner(calibrations)
    with caplog.at_level(logging.WARNING):
        teacher.learn("claude-a", CALLS)
        await asyncio.sleep(1)
    assert "claude-a" in caplog.text
    teacher.learn("claude-a", CALLS)
    await asyncio.sleep(1)
    assert calibrations.known["claude-a"].observed == 2


async def test_nothing_is_taught_without_a_store_or_without_calls():
    calibrations = FakeCalibrations()
    CalibrationLearner(None).learn("claude-a", CALLS)
    CalibrationLearner(calibrations).learn("claude-a", ())
    await asyncio.sleep(1)
    assert calibrations.lessons == 0


async def test_lessons_do_not_pile_up_before_a_store_that_hangs():
    calibrations = FakeCalibrations(takes_s=1_000)
    teacher = CalibrationLearner(calibrations)
    for _ in range(2 * MAX_PENDING):
        teacher.learn("claude-a", CALLS)
    await asyncio.sleep(2_000)
    assert calibrations.lessons == MAX_PENDING


async def test_closing_ends_what_is_under_way():
    calibrations = FakeCalibrations(takes_s=1_000)
    teacher = CalibrationLearner(calibrations)
    teacher.learn("claude-a", CALLS)
    await asyncio.sleep(0)
    await teacher.close()
    await asyncio.sleep(2_000)
    assert calibrations.known == {}
