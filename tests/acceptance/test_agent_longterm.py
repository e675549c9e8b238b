"""Preset agent-longterm: consolidation at night or on request, and reinforcement of repeated findings."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from deploy.policies.files import preset, read_file
from streams.windows.extraction import triggers
from streams.windows.extraction.triggers import Waiting
from tests.acceptance.service import WITHIN_S, ChatService
from tests.deployment import Deployment, eventually

SAID = (
    "We chose React over Vue because the team knows it.",
    "I prefer TypeScript.",
    "Our production server runs on Hetzner.",
)


@pytest.fixture
def agent(engine: Deployment) -> ChatService:
    return ChatService(engine, "agent-longterm", agent_id="builder", user_id="nina")


async def test_consolidation_runs_on_flush_not_at_conversation_end_and_repeated_statements_reinforce_memories(
    agent: ChatService,
):
    first = agent.conversation()
    await agent.say(first, *(("user", said) for said in SAID), ("assistant", "All noted."))
    await agent.end(first)
    row = await agent.window(first, 4)
    assert (row["policy"], row["extracted_to"]) == ("agent-longterm", 0)
    assert await agent.memories("builder") == []

    await agent.ask(first, "flush")
    await agent.extracted(first)
    found = {memory["kind"]: memory for memory in await agent.memories("builder")}
    assert {kind: memory["text"] for kind, memory in found.items()} == {
        "decision": "User's team chose React over Vue because the team knows it.",
        "preference": "User prefers TypeScript.",
        "fact": "The team's production server runs on Hetzner.",
    }
    assert all(0.0 < memory["confidence"] <= 1.0 for memory in found.values())

    again = agent.conversation()
    await agent.say(again, ("user", "I prefer TypeScript."), ("assistant", "I know."))
    await agent.ask(again, "flush")
    await agent.extracted(again)
    memories = await agent.memories("builder")
    assert len(memories) == 3, "what is known already is no second memory"
    (preference,) = [memory for memory in memories if memory["kind"] == "preference"]
    assert preference["reinforcement_count"] == found["preference"]["reinforcement_count"] + 1
    assert preference["last_reinforced_at"] is not None
    assert {source["conversation_id"] for source in preference["sources"]} == {first, again}


async def test_an_agents_own_work_becomes_an_experience_and_facts_attributed_to_it(engine: Deployment):
    agent = ChatService(engine, "agent-longterm", agent_id="fixer", user_id="nina")
    task, fixed = agent.conversation(), "I set TZ in the workflow, and the tests pass now: fixed."
    called = agent.message(
        task, "assistant", "I run them.", tool_calls=[{"id": "1", "name": "run_tests", "arguments": {}}]
    )
    await agent.say(task, ("user", "Fix the failing date test."))
    await agent.deployment.publish(called)
    await agent.say(task, ("tool", "FAILED tests/test_tz.py: TZ is UTC"))
    await agent.say(task, ("assistant", f"The staging server runs on port 8080. {fixed}"))
    await agent.window(task, 4)
    await agent.ask(task, "flush")
    await agent.extracted(task)

    found = {memory["kind"]: memory for memory in await agent.memories("fixer")}
    assert {kind: memory["text"] for kind, memory in found.items()} == {
        "fact": "The staging server runs on port 8080.",
        "experience": f"Task: Fix the failing date test. Steps: run_tests. Outcome: {fixed}",
    }
    assert [source.get("attributed_to") for source in found["fact"]["sources"]] == ["assistant"]
    assert {source.get("attributed_to") for source in found["experience"]["sources"]} == {None, "assistant"}


def test_conversations_ended_or_open_are_due_at_the_nightly_schedule_in_the_background_lane():
    (written,) = read_file(preset("agent-longterm"))
    said = datetime(2026, 3, 2, 15, 0, tzinfo=UTC).timestamp()
    night = datetime(2026, 3, 3, 2, 0, tzinfo=UTC).timestamp()
    waiting = Waiting(said, said + 60)
    for ended in (True, False):
        assert triggers.due_at(waiting, ended, written.policy) == night + triggers.RUN_WITHIN_S
        assert triggers.lane(waiting, ended, written.policy, night) == "background"


async def over(api: httpx.AsyncClient, run_id: str) -> dict[str, Any]:
    """The run as it is told of once it is over."""

    async def ended_run() -> dict[str, Any] | None:
        run: dict[str, Any] = (await api.get(f"/v1/consolidation-runs/{run_id}")).json()
        return run if run["status"] in ("completed", "failed") else None

    found = await eventually(ended_run, f"the end of run {run_id}", WITHIN_S)
    assert found is not None
    return found


async def consolidated(api: httpx.AsyncClient, **parameters: object) -> dict[str, Any]:
    """A run by hand, once it is over."""
    answer = await api.post("/v1/consolidation-runs", json=parameters)
    assert answer.status_code == 202, answer.text
    return await over(api, answer.json()["run_id"])


async def test_a_dry_run_previews_the_changes_of_a_consolidation_run_and_the_run_reports_its_outcome(
    engine: Deployment, api: httpx.AsyncClient
):
    agent = ChatService(engine, "agent-longterm", agent_id="planner", user_id="nina")
    first = agent.conversation()
    await agent.say(first, *(("user", said) for said in SAID), ("assistant", "All noted."))
    await agent.archived(first, 4)
    await agent.window(first, 4)

    dry = await consolidated(api, namespace="planner", dry_run=True)
    assert (dry["status"], dry["conversations"], dry["created"]) == ("completed", 1, 3)
    found = (await api.get(f"/v1/consolidation-runs/{dry['run_id']}/findings")).json()["findings"]
    assert {(each["result"], each["kind"]) for each in found} == {
        ("created", "decision"),
        ("created", "preference"),
        ("created", "fact"),
    }
    assert await agent.memories("planner") == [], "a dry run writes none of them"

    run = await consolidated(api, namespace="planner")
    assert (run["status"], run["processed"], run["created"], run["reinforced"]) == ("completed", 1, 3, 0)
    assert (run["providers"], run["requests"], run["failed_requests"]) == (["offline"], 1, 0)
    assert {memory["text"] for memory in await agent.memories("planner")} == {each["text"] for each in found}

    again = agent.conversation()
    await agent.say(again, ("user", "I prefer TypeScript."), ("assistant", "I know."))
    await agent.archived(again, 2)
    await agent.window(again, 2)
    dry = await consolidated(api, conversation_id=again, dry_run=True)
    assert (dry["created"], dry["reinforced"]) == (0, 1)
    run = await consolidated(api, conversation_id=again)
    assert (run["created"], run["reinforced"]) == (0, 1)
    assert (await consolidated(api, namespace="planner"))["conversations"] == 0, "nothing waits any more"


async def test_the_nightly_scheduled_run_consolidates_conversations_of_the_day(
    engine: Deployment, api: httpx.AsyncClient
):
    agent = ChatService(engine, "agent-longterm", agent_id="nightly", user_id="nina")
    first, second = agent.conversation(), agent.conversation()
    for conversation, said in ((first, SAID[1]), (second, SAID[1])):
        await agent.say(conversation, ("user", said), ("assistant", "Noted."))
        await agent.end(conversation)
        await agent.archived(conversation, 2)
        await agent.window(conversation, 2)
    assert await agent.memories("nightly") == []

    # The scheduler has noted the next night; it comes early here.
    statement = "SELECT policy FROM consolidation_schedules WHERE policy = 'agent-longterm'"
    await eventually(lambda: engine.fetch(statement), "the schedule is noted", WITHIN_S)
    moved = "UPDATE consolidation_schedules SET next_due = now() WHERE policy = 'agent-longterm' RETURNING policy"
    await engine.fetch(moved)

    async def runs() -> list[dict[str, Any]]:
        listed = (await api.get("/v1/consolidation-runs", params={"policy": "agent-longterm"})).json()["runs"]
        return [run for run in listed if run["trigger"] == "schedule"]

    (run,) = await eventually(runs, "a run of the schedule", WITHIN_S)
    run = await over(api, run["run_id"])
    assert run["status"] == "completed" and run["processed"] == run["conversations"] >= 2
    (memory,) = await agent.memories("nightly")
    assert (memory["text"], memory["reinforcement_count"]) == ("User prefers TypeScript.", 1)
    assert run["created"] >= 1 and run["reinforced"] >= 1
    statement = "SELECT next_due > now() AS later FROM consolidation_schedules WHERE policy = 'agent-longterm'"
    assert await engine.fetch(statement) == [{"later": True}], "the next night is noted"


async def swept(api: httpx.AsyncClient, **parameters: object) -> dict[str, Any]:
    """Returns the sweep's report on the policy, once it has ended."""
    answer = await api.post("/v1/retention-sweeps", json=parameters)
    assert answer.status_code == 202, answer.text

    async def completed_sweep() -> dict[str, Any] | None:
        sweep: dict[str, Any] = (await api.get(f"/v1/retention-sweeps/{answer.json()['sweep_id']}")).json()
        return sweep if sweep["status"] == "completed" else None

    sweep = await eventually(completed_sweep, "the end of the sweep", WITHIN_S)
    assert sweep is not None
    return next(kept for kept in sweep["policies"] if kept["policy"] == "agent-longterm")


async def test_retention_prunes_consolidated_messages_from_the_archive_after_30_days_and_keeps_their_memories(
    engine: Deployment, api: httpx.AsyncClient
):
    agent = ChatService(engine, "agent-longterm", agent_id="keeper", user_id="nina")
    done, waits = agent.conversation(), agent.conversation()
    for conversation in (done, waits):
        await agent.say(conversation, *(("user", said) for said in SAID), ("assistant", "All noted."))
        await agent.archived(conversation, 4)
    await agent.ask(done, "flush")
    await agent.extracted(done)
    for conversation in (done, waits):
        await agent.ask(conversation, "clear")
        await agent.cleared(conversation)
    await engine.fetch(
        "UPDATE messages SET archived_at = now() - interval '31 days' WHERE conversation_id = ANY ($1) RETURNING 1",
        [done, waits],
    )

    dry = await swept(api, dry_run=True)
    assert (dry["days"], dry["pruned"], dry["held"]) == (30, 4, 4)
    await agent.archived(done, 4)
    kept = await swept(api)
    assert (kept["pruned"], kept["held"], kept["messages"]) == (4, 4, dry["messages"] - 4)
    rows = await engine.fetch("SELECT conversation_id FROM messages WHERE conversation_id = ANY ($1)", [done, waits])
    assert [row["conversation_id"] for row in rows] == [waits] * 4, "what is not consolidated stays"
    assert len(await agent.memories("keeper")) == 3
    found = await api.get("/v1/search", params={"namespace": "keeper", "q": "Why React and not Vue?"})
    assert found.json()["hits"][0]["memory"]["text"] == "User's team chose React over Vue because the team knows it."


async def test_context_includes_unconsolidated_messages_and_search_filters_by_kind_and_confidence(
    engine: Deployment, api: httpx.AsyncClient
):
    agent = ChatService(engine, "agent-longterm", agent_id="tester", user_id="nina")
    yesterday, today = agent.conversation(), agent.conversation()
    await agent.say(yesterday, *(("user", said) for said in SAID), ("assistant", "All noted."))
    await agent.ask(yesterday, "flush")
    await agent.extracted(yesterday)
    await agent.say(today, ("user", "We moved the server to Falkenstein."), ("assistant", "Good to know."))
    await agent.archived(today, 2)

    body = {"conversation_id": today, "text": "Where does the production server run?"}
    block = (await api.post("/v1/context", json=body)).json()
    assert "[FACT] The team's production server runs on Hetzner." in block["text"]
    assert block["text"].endswith("user: We moved the server to Falkenstein.\nassistant: Good to know.")

    async def found(**parameters: object) -> list[str]:
        answer = await api.get("/v1/search", params={"namespace": "tester", "in": "memories", **parameters})
        assert answer.status_code == 200, answer.text
        return [hit["memory"]["text"] for hit in answer.json()["hits"]]

    (first, *_) = await found(q="Why did the team take React and not Vue?")
    assert first == "User's team chose React over Vue because the team knows it."
    assert await found(kind=["preference"]) == ["User prefers TypeScript."]
    assert len(await found(min_confidence=0.1)) == 3 and await found(min_confidence=1.0) == []
    assert await found(q="Do they keep goldfish?") == [], "nothing rather than what has nothing to do with it"
