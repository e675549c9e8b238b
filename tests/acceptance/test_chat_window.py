"""Preset chat-window: a context within the model's limit, pruned with events and never extracted."""

import httpx
import pytest

from schemas import codec
from schemas.conversations.windows import Gap
from schemas.kafka import topics
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


async def test_a_short_conversation_is_not_pruned_or_extracted(chat: ChatService):
    talk = chat.conversation()
    await chat.say(talk, SYSTEM, *exchanges(10), model="gpt-4")
    row = await chat.window(talk, 21)
    statistics = row["statistics"]
    assert (statistics["messages_in_context"], statistics["pruned_messages"], row["gaps"]) == (21, 0, [])
    assert (statistics["context_tokens"], statistics["level"]) == (8_192, "ok")
    await chat.end(talk)
    await never_extracted(chat, talk)


async def test_a_conversation_that_fills_its_context_triggers_a_warning_pruning_and_removal_markers(chat: ChatService):
    talk = chat.conversation()
    turns = exchanges(20, words=200)
    await chat.say(talk, SYSTEM, *turns, model="gpt-4")
    row = await chat.window(talk, 41)
    statistics = row["statistics"]
    assert statistics["pruned_messages"] > 0 and statistics["total_tokens"] <= 0.8 * 8_192
    assert statistics["messages_in_context"] + statistics["pruned_messages"] == 41
    gaps = codec.convert(row["gaps"], list[Gap])
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


async def test_a_window_is_pruned_to_at_most_fifty_messages_besides_the_system_prompt(chat: ChatService):
    talk = chat.conversation()
    await chat.say(talk, SYSTEM, *exchanges(30), model="gpt-4")
    statistics = (await chat.window(talk, 61))["statistics"]
    assert 11 <= statistics["messages_in_context"] <= 51
    assert statistics["messages_in_context"] + statistics["pruned_messages"] == 61


async def test_a_completed_task_is_pruned_when_the_next_one_starts_and_clearing_empties_the_window(chat: ChatService):
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
        window = await chat.window(talk, 1)
        return window["statistics"]["messages_in_context"] if window["cleared_at"] else None

    assert await eventually(cleared, "cleared", WITHIN_S) == 1, "the system prompt alone"
    await never_extracted(chat, talk)


async def test_context_stays_within_the_token_limit_and_the_api_explains_prunings(
    chat: ChatService, api: httpx.AsyncClient
):
    talk = chat.conversation()
    await chat.say(talk, SYSTEM, *exchanges(20, words=200), model="gpt-4")
    statistics = (await chat.window(talk, 41))["statistics"]
    current = {"content": "And what comes next?"}
    shown = (await api.post(f"/v1/conversations/{talk}/context", json={"current": current})).json()
    contents = [each["content"] for each in shown["messages"]]
    assert (contents[0], contents[-1]) == (SYSTEM[1], current["content"])
    assert f"... [{statistics['pruned_messages']} messages removed] ..." in contents
    assert shown["billed_tokens"] <= shown["limit_tokens"] == int(0.8 * 8_192)
    assert shown["statistics"]["messages_in_context"] == statistics["messages_in_context"] + 1
    assert all(each["importance"] is not None and each["why"] for each in shown["messages"] if each["role"] != "marker")
    assert contents[-11:-1] == [said for _, said in exchanges(20, words=200)][-10:]

    less = (await api.get(f"/v1/conversations/{talk}/context", params={"max_tokens": 3_000})).json()
    assert less["billed_tokens"] <= 3_000 and less["left_out"], "what leaves for one request stays in the window"
    least = (await api.get(f"/v1/conversations/{talk}/context", params={"max_tokens": 300})).json()
    assert least["billed_tokens"] <= 300 and least["messages"][0]["content"] == SYSTEM[1]
    assert "characters left out] ..." in least["messages"][-1]["content"]
    assert {each["reason"] for each in least["left_out"][-3:]} == {"last_resort"}, "of the last ten the oldest leave"
    refused = await api.get(f"/v1/conversations/{talk}/context", params={"max_tokens": 20})
    assert (refused.status_code, "current message" in refused.json()["detail"]) == (422, True)

    known = (await api.get(f"/v1/conversations/{talk}")).json()
    assert known["headline"].startswith(f"{statistics['messages_in_context']} messages (")
    assert known["statistics"]["pruned_messages"] == statistics["pruned_messages"]
    assert "The system prompt and the last 10 messages always stay" in known["statistics"]["explanation"]
    prunings = (await api.get(f"/v1/conversations/{talk}/prunings")).json()["prunings"]
    assert sum(each["count"] for each in prunings) == statistics["pruned_messages"]
    assert {each["cause"] for each in prunings} == {"usage"}
    assert all(run["why"] for each in prunings for run in each["removed"])
    page = (await api.get(f"/v1/conversations/{talk}/messages", params={"limit": 500})).json()["messages"]
    assert [each["in_context"] for each in page].count(False) == statistics["pruned_messages"]


async def test_tool_call_arguments_larger_than_the_context_of_the_model_are_shortened(
    chat: ChatService, api: httpx.AsyncClient
):
    talk = chat.conversation()
    text = "".join(f"line {number}\n" for number in range(6_000))
    call = {"id": "w1", "name": "write_file", "arguments": {"path": "notes.txt", "content": text}}
    await chat.say(talk, ("user", "Write my notes into a file."))
    await chat.say(talk, ("assistant", ""), tool_calls=[call])
    await chat.say(talk, ("tool", "written"), tool_call_id="w1")
    await chat.say(talk, ("user", "thanks"))
    await chat.archived(talk, 4)
    shown = await api.get(f"/v1/conversations/{talk}/context", params={"model": "gpt-3.5-turbo-16k"})
    assert shown.status_code == 200, shown.text
    body = shown.json()
    assert body["billed_tokens"] <= body["limit_tokens"] < 16_385
    (called,) = body["messages"][1]["tool_calls"]
    assert called["arguments"]["path"] == "notes.txt"
    assert "characters left out] ..." in called["arguments"]["content"]
    assert [each.get("shortened", False) for each in body["messages"]] == [False, True, False, False]
    assert "left_out" not in body and body["messages"][2]["tool_call_id"] == "w1"
    page = (await api.get(f"/v1/conversations/{talk}/messages")).json()["messages"]
    assert page[1]["tool_calls"][0]["arguments"]["content"] == text, "the archive has it whole"


async def test_the_api_clears_a_conversation_only_after_confirmation_and_restores_it(
    chat: ChatService, api: httpx.AsyncClient
):
    talk = chat.conversation()
    await chat.say(talk, SYSTEM, *exchanges(3), model="gpt-4")
    await chat.window(talk, 7)
    refused = await api.post(f"/v1/conversations/{talk}/clear")
    body = (await api.get(f"/v1/conversations/{talk}/clear")).json()
    assert refused.status_code == 409 and body["question"] in refused.json()["detail"]
    assert (body["messages"], body["question"].startswith("Clear conversation history?")) == (7, True)
    assert (await api.post(f"/v1/conversations/{talk}/clear", params={"confirm": True})).status_code == 202

    async def cleared() -> bool:
        return "cleared_at" in (await api.get(f"/v1/conversations/{talk}")).json()

    await eventually(cleared, "cleared", WITHIN_S)
    shown = (await api.get(f"/v1/conversations/{talk}/context")).json()
    assert [each["content"] for each in shown["messages"]] == [SYSTEM[1], "... [6 messages removed] ..."]

    assert (await api.post(f"/v1/conversations/{talk}/restore")).status_code == 202

    async def restored() -> bool:
        return "cleared_at" not in (await api.get(f"/v1/conversations/{talk}")).json()

    await eventually(restored, "restored", WITHIN_S)
    shown = (await api.get(f"/v1/conversations/{talk}/context")).json()
    assert [each["content"] for each in shown["messages"]] == [SYSTEM[1], *(said for _, said in exchanges(3))]
    await chat.say(talk, ("user", "Something new."))
    await chat.archived(talk, 8)
    shown = (await api.get(f"/v1/conversations/{talk}/context")).json()
    assert [each["content"] for each in shown["messages"]][-1] == "Something new."


async def test_user_settings_limit_the_window_of_open_and_new_conversations(engine: Deployment, api: httpx.AsyncClient):
    chat, of_app = ChatService(engine, "chat-window", user_id="frugal"), {"app_id": "chat-window"}
    talk, later = chat.conversation(), chat.conversation()
    await chat.say(talk, SYSTEM, *exchanges(20), model="gpt-4")
    assert (await chat.window(talk, 41))["statistics"]["messages_in_context"] == 41

    chosen = {"max_messages": 20, "min_recent": 4}
    answer = await api.put("/v1/users/frugal/settings", params=of_app, json=chosen)
    assert (answer.status_code, answer.json()["windows"]) == (200, 1)

    async def pruned() -> bool:
        return (await chat.window(talk, 41))["statistics"]["messages_in_context"] <= 21

    await eventually(pruned, "the open conversation follows", WITHIN_S)
    await chat.say(later, SYSTEM, *exchanges(20), model="gpt-4")
    assert (await chat.window(later, 41))["statistics"]["messages_in_context"] <= 21

    shown = (await api.get(f"/v1/conversations/{later}/context")).json()
    assert shown["settings"]["max_messages"] == 20
    assert {name for name, by in shown["chosen_by"].items() if by == "user"} == set(chosen)
    purged = await api.post("/v1/users/purge", json={"user_id": "frugal", **of_app})
    assert purged.is_success
    assert (await api.get("/v1/users/frugal/settings", params=of_app)).json()["chosen"] == {}
