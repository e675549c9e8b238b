"""Preset session-insights: extraction after every exchange, three kinds, a minimum importance, fifty a session."""

from uuid import uuid4

import httpx
import pytest

from schemas.kafka import topics
from tests.acceptance.service import BEGIN, WITHIN_S, ChatService
from tests.deployment import Deployment, Event, eventually

DEADLINE = "The project deadline is on 2026-03-15."


@pytest.fixture
def chat(engine: Deployment) -> ChatService:
    return ChatService(engine, "session-insights", user_id="ada")


async def test_each_exchange_is_extracted_during_the_session_and_memories_stay_within_their_session(chat: ChatService):
    session, other = chat.conversation(), chat.conversation()
    await chat.say(session, ("user", "The project deadline is March 15."), ("assistant", "I will keep to it."))
    await chat.extracted(session)
    (fact,) = await chat.memories(session)
    assert (fact["kind"], fact["text"]) == ("fact", DEADLINE)
    assert fact["importance"] >= 0.3

    await chat.say(session, ("user", "I prefer concise bullet points."), ("assistant", "Of course."))
    await chat.extracted(session, 2)
    await chat.say(session, ("user", "The project deadline is March 15."), ("assistant", "I know."))
    await chat.extracted(session, 3)
    memories = {memory["text"]: memory for memory in await chat.memories(session)}
    assert {text: memory["kind"] for text, memory in memories.items()} == {
        DEADLINE: "fact",
        "User prefers concise bullet points.": "preference",
    }
    assert memories[DEADLINE]["reinforcement_count"] == fact["reinforcement_count"] + 1

    await chat.say(other, ("user", "What is the weather like?"), ("assistant", "Sunny."))
    await chat.extracted(other)
    assert await chat.memories(other) == []


async def test_what_the_assistant_and_a_tool_state_becomes_attributed_memories_in_list_and_context(
    chat: ChatService, api: httpx.AsyncClient
):
    session, report = chat.conversation(), "According to the Q3 report, revenue rose 12 % to 4.2 million."
    await chat.say(session, ("user", "What does the Q3 report say?"), ("assistant", report))
    await chat.extracted(session)
    await chat.say(
        session,
        ("user", "Where is my order?"),
        ("tool", "Order 4711 was shipped on 2026-03-02."),
        ("assistant", "It is on its way."),
    )
    await chat.extracted(session, 2)

    said = {
        memory["text"]: memory
        for memory in (await api.get("/v1/memories", params={"namespace": session})).json()["memories"]
    }
    assert {text: memory["attributed_to"] for text, memory in said.items()} == {
        report: "assistant",
        "Order 4711 was shipped on 2026-03-02.": "tool",
    }
    assert all(memory["confidence"] <= 0.8 for memory in said.values())
    asked = {"conversation_id": session, "scope": chat.fields, "text": "How much did revenue rise in Q3?"}

    async def in_block() -> bool:
        block = (await api.post("/v1/context", json=asked)).json()["text"]
        return f"- [FACT] {report} (importance: 0.6) (according to: assistant)" in block.split("\n")

    await eventually(in_block, "the memory and its author are in the block", WITHIN_S)


async def test_what_the_assistant_states_about_the_user_is_not_remembered(chat: ChatService):
    session = chat.conversation()
    await chat.say(session, ("user", "What do you think of me?"), ("assistant", "You live in Lisbon and have 3 cats."))
    await chat.extracted(session)

    assert await chat.memories(session) == []


def proposed(session: str, *rated: tuple[str, float]) -> Event:
    """A candidate batch of (text, importance), as the extractor publishes it for one namespace."""
    source = {"conversation_id": session, "message_id": "m1", "timestamp": BEGIN.isoformat()}
    candidates = [
        {
            "candidate_id": uuid4().hex,
            "kind": "insight",
            "text": text,
            "confidence": 0.9,
            "importance": importance,
            "sources": [source],
        }
        for text, importance in rated
    ]
    batch = {
        "request_id": uuid4().hex,
        "conversation_id": session,
        "partition": 0,
        "namespace": session,
        "part": 1,
        "parts": 1,
        "policy": "session-insights",
        "policy_version": 1,
        "provider": "model",
        "candidates": candidates,
        "extracted_at": BEGIN.isoformat(),
    }
    return Event(topics.CANDIDATES, session, batch)


async def test_candidates_of_low_importance_are_dropped_and_a_session_keeps_at_most_fifty_memories(chat: ChatService):
    session = chat.conversation()
    many = [(f"Order {number} of customer {number * 7} failed {number + 3} times.", 0.5) for number in range(1, 53)]
    await chat.deployment.publish(proposed(session, ("It rained at lunch.", 0.29), ("Revenue follows marketing.", 0.3)))
    await chat.extracted(session)
    assert await chat.texts(session) == ["Revenue follows marketing."]
    await chat.deployment.publish(proposed(session, *many))
    await chat.extracted(session, 2)

    async def settled() -> bool:
        return not await chat.deployment.count("outbox")

    await eventually(settled, "everything decided is told", WITHIN_S)
    assert len(await chat.memories(session)) == 50


async def test_context_contains_the_five_most_relevant_memories_of_a_session_with_kind_and_importance(
    chat: ChatService, api: httpx.AsyncClient
):
    session = chat.conversation()
    facts = [(f"Room {number} is on floor {number * 3} of the blue house.", 0.4) for number in range(1, 8)]
    await chat.deployment.publish(proposed(session, *facts, ("Revenue follows marketing in the third quarter.", 0.8)))
    await chat.extracted(session)
    whose = {"conversation_id": session, "scope": chat.fields}
    body = {**whose, "text": "On which floor of the blue house is room 3?"}
    answer = await api.post("/v1/context", json=body)
    block = answer.json()
    assert answer.status_code == 200, answer.text
    lines = [line for line in block["text"].split("\n") if line.startswith("- ")]
    assert len(lines) == len(block["memories"]) == 5
    assert "- [INSIGHT] Room 3 is on floor 9 of the blue house. (importance: 0.4)" in lines
    assert not any("Revenue" in line for line in lines)

    answer = await api.post("/v1/context", json=body | {"text": "Why does revenue rise?", "cite": True})
    (first, *_) = answer.json()["memories"]
    assert first["text"] == "Revenue follows marketing in the third quarter."
    assert f"(importance: 0.8) [{first['reference']}]" in answer.json()["text"]


async def test_context_contains_a_recent_message_until_its_memory_replaces_it_and_never_both(
    chat: ChatService, api: httpx.AsyncClient
):
    session = chat.conversation()
    await chat.say(session, ("user", "The project deadline is March 15."))
    await chat.archived(session, 1)

    async def in_block() -> tuple[bool, bool]:
        """Whether the message is told, and whether its memory is."""
        answer = await api.post("/v1/context", json={"conversation_id": session, "text": "When is the deadline?"})
        assert answer.status_code == 200, answer.text
        text = answer.json()["text"]
        return "user: The project deadline is March 15." in text, f"[FACT] {DEADLINE}" in text

    seen = [await in_block()]
    assert seen == [(True, False)]
    await chat.say(session, ("assistant", "I will keep to it."))

    async def remembered() -> bool:
        seen.append(await in_block())
        return seen[-1] == (False, True)

    await eventually(remembered, "the memory in place of the message", WITHIN_S)
    assert set(seen) == {(True, False), (False, True)}, "one of the two at any moment"


async def test_a_manually_created_memory_is_listed_found_by_search_and_deleted(
    chat: ChatService, api: httpx.AsyncClient
):
    session = chat.conversation()
    new = {"namespace": session, "text": "User prefers detailed explanations.", "kind": "preference", "importance": 0.7}
    made = await api.post("/v1/memories", json=new)
    assert made.status_code == 201, made.text
    (listed,) = (await api.get("/v1/memories", params={"namespace": session})).json()["memories"]
    assert (listed["text"], listed["kind"], listed["importance"]) == (new["text"], "preference", 0.7)
    found = await api.get("/v1/search", params={"namespace": session, "q": "How detailed should an explanation be?"})
    assert [hit["memory"]["memory_id"] for hit in found.json()["hits"]] == [listed["memory_id"]]
    assert (await api.delete(f"/v1/memories/{listed['memory_id']}")).status_code == 200
    assert (await api.get(f"/v1/memories/{listed['memory_id']}")).status_code == 404
    assert (await api.get("/v1/memories", params={"namespace": session})).json()["memories"] == []
