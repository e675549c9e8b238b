"""Time limits are checked on request only, and reported by the exit code."""

import json
from typing import Any

import pytest

from tests.benchmarks import serve, windows
from tests.benchmarks.targets import SERVE, WINDOWS, Miss, checked, misses

WITHIN = {"count_tokens": 0.1, "prune_usage_80_hybrid": 2.0, "context_that_fits": 3.0, "statistics": 0.1}


def test_steps_within_their_limits_produce_no_misses(capsys: pytest.CaptureFixture[str]) -> None:
    code, output = checked(WITHIN, WINDOWS)
    assert (code, output["misses"]) == (0, [])
    assert output["machine_factor"] > 0
    assert "times as long" in capsys.readouterr().err


def test_a_step_above_its_limit_is_reported_and_fails_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    code, output = checked(WITHIN | {"prune_by_hand_hybrid": 51.0, "count_tokens_1_mb": 900.0}, WINDOWS)
    assert code == 1
    assert output["misses"] == [{"step": "prune_by_hand_hybrid", "took_ms": 51.0, "limit_ms": 50.0}]
    assert "prune_by_hand_hybrid took 51 ms, and may take 50 ms" in capsys.readouterr().err


def test_a_step_without_a_limit_is_not_checked() -> None:
    within = {"list": 5.0, "read": 5.0, "search_by_filters": 5.0, "create": 200.0}
    assert misses(within | {"context_at_50_per_s": 5_000.0}, SERVE) == []
    assert misses(within | {"list": 101.0}, SERVE) == [Miss("list", 101.0, 100.0)]


def test_every_kind_of_search_and_memory_creation_have_limits() -> None:
    took = {"list": 5.0, "read": 5.0, "search": 99.0, "search_large": 103.0, "create": 5_001.0}
    assert misses(took, SERVE) == [Miss("search_large", 103.0, 100.0), Miss("create", 5_001.0, 5_000.0)]


def test_a_check_that_matches_no_measured_step_raises_value_error() -> None:
    with pytest.raises(ValueError, match="prune_"):
        misses({"count_tokens": 0.1, "context_that_fits": 3.0, "statistics": 0.1}, WINDOWS)


STEPS = {name: {"p99_ms": took, "p50_ms": 900.0} for name, took in WITHIN.items()}
TIMES = {name: {"p95_ms": 5.0} for name in ("list", "read", "search")} | {
    "memories": 10,
    "streams": {"create": {"p95_ms": 50.0}},
}


@pytest.mark.parametrize(("p99_ms", "code"), [(9.0, 0), (11.0, 1)])
def test_bench_windows_with_check_exits_1_if_a_p99_exceeds_its_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], p99_ms: float, code: int
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")  # main sets it
    monkeypatch.setattr(windows, "ensure_vocabulary", lambda path: path)
    monkeypatch.setattr(windows, "run", lambda _: {"steps": STEPS | {"count_tokens": {"p99_ms": p99_ms}}})
    assert windows.main([]) == 0
    assert "check" not in last_line(capsys)
    assert windows.main(["--check"]) == code
    assert [each["step"] for each in last_line(capsys)["check"]["misses"]] == ["count_tokens"] * code


@pytest.mark.parametrize(("p95_ms", "code"), [(99.0, 0), (101.0, 1)])
def test_bench_serve_with_check_exits_1_if_a_p95_of_any_store_exceeds_its_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], p95_ms: float, code: int
) -> None:
    async def run(*_: object) -> dict[str, Any]:
        return {"stores": [TIMES | {"search_said": {"p95_ms": p95_ms}}, TIMES | {"search_said": {"p95_ms": 2.0}}]}

    monkeypatch.setattr(serve, "run", run)
    monkeypatch.setattr(serve, "extrapolated", lambda _: {})
    assert serve.main([]) == 0
    assert "check" not in last_line(capsys)
    assert serve.main(["--check"]) == code
    assert [each["step"] for each in last_line(capsys)["check"]["misses"]] == ["search_said"] * code


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return report
