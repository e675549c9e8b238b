"""Runs that cannot start are given up after a time limit."""

from datetime import timedelta

import pytest

from agents.consolidation.retries import FailedRuns
from tests.builders.slices import MONDAY

MINUTE = timedelta(minutes=1)


def test_a_run_that_fails_at_every_attempt_for_an_hour_is_abandoned():
    failing = FailedRuns()
    assert not any(failing.record_failure("r", MONDAY + minutes * MINUTE) for minutes in range(60))
    assert failing.record_failure("r", MONDAY + 60 * MINUTE)


@pytest.mark.parametrize("jump", [61 * MINUTE, -61 * MINUTE], ids=["nobody tried, or the clock jumped", "set back"])
def test_two_failures_an_hour_apart_do_not_count_as_an_hour_of_failures(jump: timedelta):
    failing = FailedRuns()
    assert not failing.record_failure("r", MONDAY)
    again = MONDAY + jump
    assert not failing.is_resting("r", again)
    assert not failing.record_failure("r", again)
    assert failing.is_resting("r", again)
    assert not any(failing.record_failure("r", again + minutes * MINUTE) for minutes in range(1, 60))
    assert failing.record_failure("r", again + 60 * MINUTE)
