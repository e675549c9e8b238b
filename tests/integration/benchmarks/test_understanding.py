"""The scenarios of bench-understanding pass through windows, each provider and the curator."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import convert

from tests.benchmarks.understanding.measures import Measured
from tests.benchmarks.understanding.run import run
from tests.benchmarks.understanding.scenarios import Scenario, scenarios
from tests.servers.messages import KEY, MODELS, MessagesServer

CHOSEN = scenarios({"moves", "groups"}, {"development"})


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[MessagesServer]:
    """The endpoint that the settings name."""
    async with MessagesServer() as server:
        monkeypatch.setenv("MEMSTREAM_ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("MEMSTREAM_ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("MEMSTREAM_CLAUDE_MODEL", sorted(MODELS)[0])
        yield server


async def played(provider: str, chosen: tuple[Scenario, ...] = CHOSEN, *, resolve: bool = False) -> dict[str, Measured]:
    found, _ = await run(chosen, provider, resolve=resolve)
    return {scenario.id: measured for scenario, measured in found}


def a_scenario(scenario_id: str, *talk: str, **fields: Any) -> Scenario:
    known = ["away"] if fields.get("oracle") else []
    return convert({"id": scenario_id, "kind": "dates", "talk": talk, "knows": known} | fields, Scenario)


def total(measured: dict[str, Measured]) -> Counter[str]:
    return sum((each.counts for each in measured.values()), Counter())


async def test_a_model_endpoint_receives_one_request_per_session(server: MessagesServer) -> None:
    by_model = await played("claude")

    calls = {scenario_id: measured.counts["calls"] for scenario_id, measured in by_model.items()}
    assert calls == {scenario.id: len(scenario.sessions) for scenario in CHOSEN}
    assert len(server.seen) == sum(calls.values())
    assert total(by_model)["tokens_sent"] > 1_000
    assert total(by_model)["contained"] > 0


async def test_a_scenario_rejected_by_the_endpoint_does_not_affect_the_others(server: MessagesServer) -> None:
    server.script("too_large")

    by_model = await played("claude")

    assert len(by_model) == len(CHOSEN) - 1


async def test_the_offline_rules_attribute_no_fact_to_another_person() -> None:
    counts = total(await played("offline", scenarios({"groups"}, {"development"})))

    assert counts["wrong_person_of"] > 40
    assert counts["wrong_person"] == 0


async def test_oracle_candidates_are_curated_with_their_references() -> None:
    chosen = tuple(scenario for scenario in CHOSEN if scenario.oracle)

    counts = total(await played("oracle", chosen))

    assert counts["contained"] == counts["contained_of"] > 20
    assert counts["ended"] == counts["ended_of"] > 3
    assert counts["wrong_person"] == 0


async def test_a_memory_that_expires_later_is_found_by_its_own_scenario_when_later_scenarios_follow() -> None:
    away = {"of": 0, "text": "User is away until 20 March 2026", "until": "2026-03-20"}
    now = a_scenario(
        "in-march", "u: away until the 20th", "@2026-03-02T19:00", "u: hi", "@2026-03-02T20:00", "u: bye", oracle=[away]
    )
    later = [a_scenario(f"later-{number}", "u: hello", at="2026-06-02T18:00") for number in range(12)]

    counts = total(await played("oracle", (now, *later)))

    assert counts["contained"] == counts["contained_of"] == 1


async def test_resolving_against_neighbours_ends_memories_without_explicit_references() -> None:
    chosen = tuple(scenario for scenario in CHOSEN if scenario.oracle)

    alone, with_model = (
        total(await played("oracle-unaided", chosen)),
        total(await played("oracle-unaided", chosen, resolve=True)),
    )

    assert alone["ended"] < with_model["ended"] == with_model["ended_of"]
    assert with_model["contained"] == with_model["contained_of"]
