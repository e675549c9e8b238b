"""A forecast of candidates equals the later decision of the curator and writes nothing."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agents.curation.editor import Editor
from agents.curation.forecast import Forecast
from schemas.policies.policies import DEFAULT_POLICY
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.provider import FakeProvider

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

TABLES = ("namespaces", "memories", "memory_versions", "embeddings", "outbox", "extractions", "extraction_parts")


def forecast(bench: "Bench") -> Forecast:
    return Forecast(bench.pool, bench.vectors, FakeEmbedder(), Editor(bench.provider), bench.now)


async def rows(bench: "Bench") -> dict[str, list[Any]]:
    return {table: await bench.pool.fetch(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES}


async def test_a_forecast_matches_the_later_decision_of_the_curator_and_writes_nothing(bench: "Bench") -> None:
    await bench.remember("User has a dog")
    tea = await bench.remember("User drinks green tea in the morning")
    said = bench.batch(
        "user has a DOG!",
        "User moved to Ghent",
        bench.candidate("User drinks coffee, no tea any more", contradicts=tea.memory_id),
        bench.candidate("User may like jazz", confidence=0.1),
    )
    before, published = await rows(bench), list(bench.publisher.records)
    foreseen = await forecast(bench).decide(said, DEFAULT_POLICY)
    assert (await rows(bench), bench.publisher.records) == (before, published)
    outcome = await bench.curator.curate(said)
    assert [ruling.result for ruling in foreseen.rulings] == ["reinforced", "created", "superseded", "dropped"]
    assert foreseen.rulings == outcome.rulings
    assert [entry.change for entry in foreseen.entries] == ["reinforced", "created", "created", "superseded"]


async def test_a_statement_in_two_batches_is_forecast_as_created_and_then_reinforced(bench: "Bench") -> None:
    would = forecast(bench)
    first = await would.decide(bench.batch("User has a dog"), DEFAULT_POLICY)
    again = await would.decide(bench.batch("The user has a dog"), DEFAULT_POLICY)
    assert ([each.result for each in first.rulings], [each.result for each in again.rulings]) == (
        ["created"],
        ["reinforced"],
    )
    assert again.rulings[0].memory_id == first.rulings[0].memory_id
    elsewhere = await would.decide(bench.batch("The user has a dog", namespace="other"), DEFAULT_POLICY)
    assert [each.result for each in elsewhere.rulings] == ["created"], "namespaces know nothing of each other"


async def test_the_limit_per_conversation_applies_across_batches(bench: "Bench") -> None:
    would, policy = forecast(bench), replace(DEFAULT_POLICY, max_per_conversation=1)
    first = await would.decide(bench.batch("User has a dog"), policy)
    again = await would.decide(bench.batch("User moved to Ghent"), policy)
    assert [each.result for each in (*first.rulings, *again.rulings)] == ["created", "dropped"]


async def test_a_missing_importance_is_rated_by_the_model_as_in_the_curator(bench: "Bench") -> None:
    foreseen = await forecast(bench).decide(
        bench.batch(bench.candidate("User has a dog", importance=None)), DEFAULT_POLICY
    )
    assert isinstance(bench.provider, FakeProvider) and bench.provider.call_counts["score"] == 1
    assert 0.4 < foreseen.entries[0].after.importance < 0.6, "300 points"


async def test_a_batch_without_candidates_has_no_rulings(bench: "Bench") -> None:
    assert (await forecast(bench).decide(bench.batch(), DEFAULT_POLICY)).rulings == ()
