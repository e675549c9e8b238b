"""What bench-serve counts as an answer."""

from typing import Any

import httpx
import pytest

from schemas.searches import Found
from tests.benchmarks.serve_load import in_turn

WHOLE, PARTLY = (
    httpx.Response(200, json={"hits": [], "degraded": []}),
    httpx.Response(200, json={"degraded": ["vectors_slow"]}),
)


@pytest.mark.parametrize(
    ("answer", "counted"),
    [
        (WHOLE, "answers"),
        (httpx.Response(200, json={"memories": []}), "answers"),
        (PARTLY, "degraded"),
        (httpx.Response(201, json={}), "answers"),
        (httpx.Response(202, json={}), "failed"),
        (httpx.Response(503, json={}), "failed"),
        (Found(hits=()), "answers"),
        (Found(hits=(), degraded=("embedder_slow",)), "degraded"),
    ],
)
async def test_only_whole_answers_are_timed(answer: Any, counted: str):
    async def ask(number: int) -> Any:
        return answer

    told = (await in_turn(ask, 3)).told()
    assert {name: told[name] for name in ("answers", "degraded", "failed") if told[name]} == {counted: 3}
    assert ("p95_ms" in told) == (counted == "answers")
