"""chat-window: a context within its model's limits, pruned where it may be, told of, and never extracted."""

import pytest

from schemas import codec, topics
from schemas.windows import Gap
from tests.acceptance.service import WITHIN_S, ChatService
from tests.deployment import Deployment, eventually

SYSTEM = ("system", "You are a coding assistant. Never delete files.")


@pytest.fixture
def chat(engine: Deployment) -> ChatService:
    return ChatService(engine, "chat-window", user_id="dev")


def exchanges(count: int, words: int = 5) -> list[tuple[str, str]]:
    said = " ".join(["word"] * words)
    return [(role, f"{role} says {number}: {said}") for number in range(count) for role in ("user", "assistant")]


async def never_extracted(chat: ChatService, conversation: str) -> None:
    requests = await chat.deployment.values(topics.REQUESTS)
    assert [request for request in requests if request["scope"]["conversation_id"] == conversation] == []


async def test_a_short_conversation_stays_whole(chat: ChatService):
    talk = chat.conversation()
    await chat.say(talk, SYSTEM, *exchanges(10), model="gpt-4")
    row = await chat.window(talk, 21)
    told = row["statistics"]
    assert (told["messages_in_context"], told["pruned_messages"], row["gaps"]) == (21, 0, [])
    assert (told["context_tokens"], told["level"]) == (8_192, "ok")
    await chat.end(talk)
    await never_extracted(chat, talk)


async def test_a_conversation_that_fills_its_context_is_warned_of_pruned_and_marked(chat: ChatService):
    talk = chat.conversation()
    turns = exchanges(20, words=200)
    await chat.say(talk, SYSTEM, *turns, model="gpt-4")
    row = await chat.window(talk, 41)
    told = row["statistics"]
    assert told["pruned_messages"] > 0 and told["total_tokens"] <= 0.8 * 8_192
    assert told["messages_in_context"] + told["pruned_messages"] == 41
    gaps = codec.shaped(row["gaps"], list[Gap])
    gone = [position for gap in gaps for position in range(gap.first, gap.last + 1)]
    assert f"[{gaps[0].count} messages removed]" in gaps[0].marker
    rows = await chat.deployment.fetch("SELECT * FROM messages WHERE conversation_id = $1 ORDER BY position", talk)
    positions = [each["position"] for each in rows]
    assert not {positions[0], *positions[-10:]} & set(gone), "the system prompt and the last ten messages always stay"

    async def types() -> list[str] | None:
        found = [event["type"] for event in await chat.activity(talk)]
        return found if "memstream.window.pruned" in found else None

    found = await eventually(types, "warned and pruned", WITHIN_S)
    assert found is not None and found[0] == "memstream.window.warned"
    await never_extracted(chat, talk)


async def test_more_than_fifty_messages_do_not_stay(chat: ChatService):
    talk = chat.conversation()
    await chat.say(talk, SYSTEM, *exchanges(30), model="gpt-4")
    told = (await chat.window(talk, 61))["statistics"]
    assert 11 <= told["messages_in_context"] <= 51
    assert told["messages_in_context"] + told["pruned_messages"] == 61


async def test_a_task_that_is_done_leaves_when_the_next_begins_and_all_leaves_when_it_is_cleared(chat: ChatService):
    talk = chat.conversation()
    work = [
        ("user", "Please refactor the parser."),
        *exchanges(12),
        ("assistant", "Task complete. Refactored 3 files."),
    ]
    await chat.say(talk, SYSTEM, *work, ("user", "Now let's work on the tests."), model="gpt-4")
    row = await chat.window(talk, len(work) + 2)
    (pruning,) = await chat.deployment.fetch("SELECT * FROM window_prunings WHERE conversation_id = $1", talk)
    assert pruning["cause"] == "boundary"
    assert row["statistics"]["pruned_messages"] > 0

    await chat.ask(talk, "clear")

    async def cleared() -> int | None:
        told = await chat.window(talk, 1)
        return told["statistics"]["messages_in_context"] if told["cleared_at"] else None

    assert await eventually(cleared, "cleared", WITHIN_S) == 1, "the system prompt alone"
    await never_extracted(chat, talk)
