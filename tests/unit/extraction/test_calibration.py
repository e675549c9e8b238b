"""Calibrations learn from model calls in the background; their failures affect no extraction."""

import asyncio
import logging
from collections import deque

import pytest

from agents.extraction.calibration import MAX_PENDING, CalibrationLearner
from agents.models.port import MeasuredCall
from schemas.conversations.windows import Calibration
from schemas.errors import Retryable
from tests.fakes.calibrations import FakeCalibrations

CALLS = (
    MeasuredCall(counted_tokens=1_000, billed_tokens=1_200),
    MeasuredCall(counted_tokens=1_000, billed_tokens=1_400),
)


async def test_each_model_call_adds_one_observation_to_the_calibration():
    calibrations = FakeCalibrations()
    CalibrationLearner(calibrations).learn("claude-a", CALLS)
    await asyncio.sleep(1)
    assert calibrations.known == {"claude-a": Calibration(pytest.approx(1.3), 2)}


@pytest.mark.parametrize("error", [Retryable("postgres away"), ValueError("a bug")])
async def test_a_calibration_store_failure_is_only_logged(caplog, error):
    calibrations = FakeCalibrations(failures=deque([error]))
    teacher = CalibrationLearner(calibrations)
    with caplog.at_level(logging.WARNING):
        teacher.learn("claude-a", CALLS)
        await asyncio.sleep(1)
    assert "claude-a" in caplog.text
    teacher.learn("claude-a", CALLS)
    await asyncio.sleep(1)
    assert calibrations.known["claude-a"].observed == 2


async def test_nothing_is_stored_without_a_calibration_store_or_without_calls():
    calibrations = FakeCalibrations()
    CalibrationLearner(None).learn("claude-a", CALLS)
    CalibrationLearner(calibrations).learn("claude-a", ())
    await asyncio.sleep(1)
    assert calibrations.lessons == 0


async def test_pending_calibration_updates_are_bounded_if_the_store_hangs():
    calibrations = FakeCalibrations(takes_s=1_000)
    teacher = CalibrationLearner(calibrations)
    for _ in range(2 * MAX_PENDING):
        teacher.learn("claude-a", CALLS)
    await asyncio.sleep(2_000)
    assert calibrations.lessons == MAX_PENDING


async def test_close_cancels_pending_calibration_updates():
    calibrations = FakeCalibrations(takes_s=1_000)
    teacher = CalibrationLearner(calibrations)
    teacher.learn("claude-a", CALLS)
    await asyncio.sleep(0)
    await teacher.close()
    await asyncio.sleep(2_000)
    assert calibrations.known == {}
