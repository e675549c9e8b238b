"""The cost of a memory is summed from the records of model calls."""

from datetime import timedelta

import pytest

from schemas.kafka import topics
from sinks.memories.insights import Insights
from sinks.memories.retrieval_counts import RetrievalCounts
from sinks.memories.statistics import NamespaceStatistics
from tests.integration.curation_bench import NOON, Bench

INSERT = (
    "INSERT INTO model_usage (usage_id, at, operation, lane, outcome, provider, model, calls, input_tokens, output_tokens,"
    " cache_read_tokens, cache_write_tokens, cost_micros, batched, namespaces, request_id)"
    " VALUES ($1, $2, 'extract', 'live', 'answered', 'claude', 'm', 1, $3, 0, 0, 0, $4, false, $5, $6)"
)


async def test_the_cost_of_a_memory_is_its_share_of_the_extractions_that_produced_it(bench: Bench) -> None:
    batch = bench.batch(bench.candidate("User has a dog"), bench.candidate("User likes green tea", kind="preference"))
    outcome = await bench.curator.curate(batch)
    alone = await bench.remember("User plays chess on Mondays")
    made = [str(ruling.memory_id) for ruling in outcome.rulings]
    shared = ["n", "other"]
    await bench.pool.execute(INSERT, "u1", NOON, 600, 400, shared, batch.request_id)
    await bench.pool.execute(INSERT, "u2", NOON, 600, None, shared, "a request of something else")
    statistics = NamespaceStatistics(bench.pool)
    for memory_id in made:
        cost = await statistics.cost_of(memory_id, "n")
        assert (cost.requests, cost.calls, cost.tokens) == (1, 1, 150)
        assert cost.cost_usd == pytest.approx(0.0001)
    free = await statistics.cost_of(alone.memory_id, "n")
    assert (free.requests, free.calls, free.tokens, free.cost_usd) == (0, 0, 0, 0.0)
    insights = Insights(bench.pool)
    assert {cost.memory_id for cost in await insights.costliest("n", 10)} == set(made)
    assert [cost.tokens for cost in await insights.costliest("n", 1)] == [150]
    assert await insights.costliest("nobody", 10) == ()
    (day,) = await insights.days("n", NOON - timedelta(days=1), NOON + timedelta(days=1))
    assert (day.day, day.changes, day.calls, day.tokens) == (NOON.date(), {"created": 3}, 2, 600)
    assert day.cost_usd == pytest.approx(0.0002)
    counts = RetrievalCounts(bench.pool)
    await counts.add({("n", NOON.date(), "context"): (4, 3), ("n", NOON.date(), "search"): (2, 0)})
    await counts.add({("n", NOON.date(), "context"): (1, 1), ("n", NOON.date(), "read"): (9, 8)})
    (day,) = await insights.days("n", NOON - timedelta(days=1), NOON + timedelta(days=1))
    assert (day.contexts, day.contexts_with_memories, day.searches, day.searches_found) == (5, 4, 2, 0)
    assert (day.reads, day.reads_cached, day.calls) == (9, 8, 2)
    assert await insights.days("n", NOON + timedelta(days=1), NOON + timedelta(days=2)) == ()
    costs = await statistics.of("n")
    assert costs.cost_usd == pytest.approx(0.0002)
    assert costs.cost_per_memory_usd == pytest.approx(0.0002 / 3)
    assert (await statistics.of("nobody")).cost_per_memory_usd is None
    assert len(bench.publisher.on(topics.EVENTS)) == 3


async def test_a_call_for_one_namespace_beside_an_extraction_for_two_is_not_halved(bench: Bench) -> None:
    batch = bench.batch(bench.candidate("User has a dog"))
    outcome = await bench.curator.curate(batch)
    await bench.pool.execute(INSERT, "extract", NOON, 600, 400, ["n", "other"], batch.request_id)
    await bench.pool.execute(INSERT, "resolve", NOON, 100, 50, ["n"], batch.request_id)

    cost = await NamespaceStatistics(bench.pool).cost_of(str(outcome.rulings[0].memory_id), "n")
    (costliest,) = await Insights(bench.pool).costliest("n", 10)

    assert (cost.requests, cost.calls, cost.tokens) == (1, 2, 300 + 100)
    assert cost.cost_usd == pytest.approx(0.00025)
    assert (costliest.calls, costliest.tokens) == (2, 300 + 100)
