"""session-insights: extracted after every exchange, three kinds, nothing of little importance, fifty a session."""

from uuid import uuid4

import pytest

from schemas import topics
from tests.acceptance.service import BEGIN, WITHIN_S, ChatService
from tests.deployment import Deployment, Event, eventually

DEADLINE = "The project deadline is on 2026-03-15."


@pytest.fixture
def chat(engine: Deployment) -> ChatService:
    return ChatService(engine, "session-insights", user_id="ada")


async def test_each_exchange_is_extracted_while_the_session_goes_on_and_no_other_session_knows_of_it(chat: ChatService):
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


async def test_what_matters_little_is_dropped_and_a_session_keeps_fifty_at_most(chat: ChatService):
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
