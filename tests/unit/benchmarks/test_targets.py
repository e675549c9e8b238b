"""Limits in time are checked only where that is asked for, and then by the exit code."""

import pytest

from tests.benchmarks.targets import SERVE, WINDOWS, Miss, checked, misses

WITHIN = {"count_tokens": 0.1, "prune_usage_80_hybrid": 2.0, "context_that_fits": 3.0, "statistics": 0.1}


def test_nothing_is_missed_by_what_stays_within_its_limits(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = checked(WITHIN, WINDOWS)
    assert (code, told["misses"]) == (0, [])
    assert told["machine_factor"] > 0
    assert "times as long" in capsys.readouterr().err


def test_a_step_above_its_limit_is_named_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = checked(WITHIN | {"prune_by_hand_hybrid": 51.0, "count_tokens_1_mb": 900.0}, WINDOWS)
    assert code == 1
    assert told["misses"] == [{"step": "prune_by_hand_hybrid", "took_ms": 51.0, "limit_ms": 50.0}]
    assert "prune_by_hand_hybrid took 51 ms, and may take 50 ms" in capsys.readouterr().err


def test_what_has_no_limit_is_not_checked() -> None:
    assert misses({"list": 5.0, "search_by_filters": 5.0, "search": 5_000.0}, SERVE) == []
    assert misses({"list": 101.0, "search_by_filters": 5.0}, SERVE) == [Miss("list", 101.0, 100.0)]


def test_a_check_that_looks_at_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="prune_"):
        misses({"count_tokens": 0.1, "context_that_fits": 3.0, "statistics": 0.1}, WINDOWS)
