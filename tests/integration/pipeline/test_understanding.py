"""The scenarios of bench-understanding, interleaved on running workers, give the same memories as one by one."""

import json
from collections import Counter
from itertools import zip_longest

import pytest
from msgspec import convert, to_builtins

from schemas.kafka import topics
from schemas.memories.memories import Memory
from tests.benchmarks.understanding.measures import Measured, Played
from tests.benchmarks.understanding.run import run
from tests.benchmarks.understanding.scenarios import Scenario, scenarios
from tests.builders.chat_events import end
from tests.deployment import Deployment, Event

KINDS = {"groups", "moves", "languages"}
POLICY = {"name": "people", "namespaces": ["{app_id}/{user_id}"]}
FIGURES = ("contained", "stale_alive", "wrong_person", "wrong_subject", "repeated", "memories")

pytestmark = pytest.mark.heavy


def session(scenario: Scenario, number: int) -> list[Event]:
    """Returns the messages of a session and its end; nothing if there are fewer sessions."""
    said = scenario.sessions[number] if number < len(scenario.sessions) else ()
    events = [Event(topics.MESSAGES, each.conversation_id, to_builtins(each)) for each in said]
    over = [end(said[0].conversation_id, at=said[-1].timestamp, message_count=len(said))] if said else []
    return [*events, *over]


async def known(deployment: Deployment, scenario: Scenario) -> dict[str, tuple[Memory, ...]]:
    rows = await deployment.fetch(
        "SELECT to_jsonb(memories) - 'normalised' AS memory FROM memories WHERE namespace LIKE $1", f"{scenario.id}/%"
    )
    memories = [convert(row["memory"], Memory) for row in rows]
    return {who: tuple(m for m in memories if m.namespace == f"{scenario.id}/{who}") for who in scenario.people}


async def test_interleaved_conversations_produce_the_same_memories_as_sequential_ones(deploy, tmp_path) -> None:
    policies = tmp_path / "policies.json"
    policies.write_text(json.dumps([POLICY]))
    deployment = await deploy("understanding", policies_file=policies)
    chosen = scenarios(KINDS, {"development"})
    await deployment.worker("first")
    await deployment.worker("second")

    for number in range(max(len(scenario.sessions) for scenario in chosen)):
        events = zip_longest(*(session(scenario, number) for scenario in chosen))
        await deployment.publish(*(event for turn in events for event in turn if event is not None))
        await deployment.settled(240.0)

    by_pipeline: Counter[str] = Counter()
    for scenario in chosen:
        by_pipeline += Measured(Played(scenario, (await known(deployment, scenario),))).counts
    one_by_one = sum((measured.counts for _, measured in (await run(chosen, "offline"))[0]), Counter())
    assert {name: by_pipeline[name] for name in FIGURES} == {name: one_by_one[name] for name in FIGURES}
    assert by_pipeline["wrong_person"] == 0
