"""bench-serve counts complete responses only, and extrapolates to sizes that it did not measure."""

from typing import Any

import aiohttp
import pytest

from agents.passages.indexer import Recalled, build
from schemas.policies.policies import Privacy
from schemas.retrieval.searches import Found
from tests.benchmarks.serve import GROWING, extrapolated, slowest
from tests.benchmarks.serve_load import Answered, in_turn
from tests.benchmarks.serve_passages import passages
from tests.benchmarks.serve_table import extrapolated as rows

WHOLE, PARTLY = b'{"hits": [], "degraded": []}', b'{"degraded": ["vectors_slow"]}'


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        (Answered(200, WHOLE), "answers"),
        (Answered(200, b'{"memories": []}'), "answers"),
        (Answered(200, PARTLY), "degraded"),
        (Answered(201, b"{}"), "answers"),
        (Answered(202, b"{}"), "failed"),
        (Answered(503, b"{}"), "failed"),
        (Found(hits=()), "answers"),
        (Found(hits=(), degraded=("embedder_slow",)), "degraded"),
    ],
)
async def test_only_complete_responses_are_timed(answer: Any, counted: str):
    async def ask(number: int) -> Any:
        return answer

    figures = (await in_turn(ask, 3)).as_json()
    assert {name: figures[name] for name in ("answers", "degraded", "failed") if figures[name]} == {counted: 3}
    assert ("p95_ms" in figures) == (counted == "answers")


async def test_failures_are_counted_by_exception_or_status_code():
    async def ask(number: int) -> Answered:
        if number == 0:
            raise aiohttp.ServerDisconnectedError
        return Answered(503, b"{}")

    assert (await in_turn(ask, 3)).as_json()["failures"] == {"ServerDisconnectedError": 1, "503": 2}


def store(memories: int, p50_ms: float, p95_ms: float) -> dict[str, Any]:
    return {"memories": memories, **{name: {"p50_ms": p50_ms, "p95_ms": p95_ms} for name in GROWING}}


def test_sequential_and_constant_rate_percentiles_are_both_extrapolated():
    (growth,) = extrapolated([store(10_000, 5.0, 10.0), store(100_000, 6.0, 19.0)]).values()
    assert growth["context"] == growth["context_at_50_per_s"] == {"p50_ms": 16.0, "p95_ms": 109.0}
    assert [row.split(" | ")[1:] for row in rows(growth)][2:] == [["16.0", "109.0 |"]] * len(GROWING)


def test_extrapolation_does_not_depend_on_the_order_of_store_sizes():
    stores = [store(100_000, 6.0, 19.0), store(10_000, 5.0, 10.0)]
    assert extrapolated(stores) == extrapolated(stores[::-1])


def test_a_time_that_did_not_grow_with_size_is_extrapolated_as_constant():
    (growth,) = extrapolated([store(10_000, 6.0, 12.0), store(100_000, 5.0, 12.0)]).values()
    assert growth["list"] == {"p50_ms": 5.0, "p95_ms": 12.0}


def test_a_measured_size_is_not_extrapolated():
    assert extrapolated([store(100_000, 6.0, 19.0), store(1_000_000, 16.0, 109.0)]) == {}


def test_a_figure_without_complete_responses_is_not_extrapolated():
    silent = store(100_000, 6.0, 19.0) | {"context_at_50_per_s": {"failed": 1_000}}
    (growth,) = extrapolated([store(10_000, 5.0, 10.0), silent]).values()
    assert growth["context_at_50_per_s"] == {"p50_ms": None, "p95_ms": None}
    assert growth["context"]["p95_ms"] == 109.0


def test_seeded_passages_equal_those_the_passage_stage_builds_from_the_same_messages():
    seeded = list(passages("bench/1", 300, 1))
    assert max(len(pieces) for _, pieces in seeded) > 1
    for archived, pieces in seeded:
        assert [piece for _, piece in build(Recalled(archived, Privacy(), ("bench/1",)))] == pieces


def test_the_checked_times_are_those_of_the_slowest_store_including_memory_creation():
    fast = {"memories": 1, "search": {"p95_ms": 5.0}, "streams": {"create": {"p95_ms": 60.0}, "events": 3}}
    slow = {"memories": 2, "search": {"p95_ms": 7.0}, "streams": {"create": {"p95_ms": 50.0}, "events": 3}}
    assert slowest([fast, slow]) == {"search": 7.0, "create": 60.0}
