"""agent-longterm: what an agent learns is consolidated at night or on demand, and reinforced where it comes up again."""

from datetime import UTC, datetime

import httpx
import pytest

from deploy.policy_files import preset, read_file
from streams.windows import triggers
from streams.windows.triggers import Waiting
from tests.acceptance.service import ChatService
from tests.deployment import Deployment

SAID = (
    "We chose React over Vue because the team knows it.",
    "I prefer TypeScript.",
    "Our production server runs on Hetzner.",
)


@pytest.fixture
def agent(engine: Deployment) -> ChatService:
    return ChatService(engine, "agent-longterm", agent_id="builder", user_id="nina")


async def test_nothing_is_consolidated_at_the_end_everything_on_demand_and_what_comes_again_reinforces(
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


def test_an_ended_conversation_waits_for_two_in_the_night_and_goes_in_the_background():
    (written,) = read_file(preset("agent-longterm"))
    said = datetime(2026, 3, 2, 15, 0, tzinfo=UTC).timestamp()
    night = datetime(2026, 3, 3, 2, 0, tzinfo=UTC).timestamp()
    waiting = Waiting(said, said + 60)
    for ended in (True, False):
        assert triggers.due_at(waiting, ended, written.policy) == night + triggers.RUN_WITHIN_S
        assert triggers.lane(waiting, ended, written.policy, night) == "background"


async def test_what_is_said_by_day_is_told_beside_what_was_consolidated_and_searched_by_kind_and_confidence(
    engine: Deployment, api: httpx.AsyncClient
):
    agent = ChatService(engine, "agent-longterm", agent_id="tester", user_id="nina")
    yesterday, today = agent.conversation(), agent.conversation()
    await agent.say(yesterday, *(("user", said) for said in SAID), ("assistant", "All noted."))
    await agent.ask(yesterday, "flush")
    await agent.extracted(yesterday)
    await agent.say(today, ("user", "We moved the server to Falkenstein."), ("assistant", "Good to know."))
    await agent.archived(today, 2)

    asked = {"conversation_id": today, "text": "Where does the production server run?"}
    block = (await api.post("/v1/context", json=asked)).json()
    assert "[FACT] The team's production server runs on Hetzner." in block["text"]
    assert block["text"].endswith("user: We moved the server to Falkenstein.\nassistant: Good to know.")

    async def found(**asked: object) -> list[str]:
        answer = await api.get("/v1/search", params={"namespace": "tester", **asked})
        assert answer.status_code == 200, answer.text
        return [hit["memory"]["text"] for hit in answer.json()["hits"]]

    (first, *_) = await found(q="Why did the team take React and not Vue?")
    assert first == "User's team chose React over Vue because the team knows it."
    assert await found(kind=["preference"]) == ["User prefers TypeScript."]
    assert len(await found(min_confidence=0.1)) == 3 and await found(min_confidence=1.0) == []
    assert await found(q="Do they keep goldfish?") == [], "nothing rather than what has nothing to do with it"
