"""Preset app-notes: at most ten short notes per app, made at the end of a conversation."""

from datetime import UTC
from typing import Any

import httpx
import pytest

from schemas.kafka import topics
from tests.acceptance.service import WITHIN_S, ChatService
from tests.deployment import Deployment, eventually

NOTES = (
    *("I prefer meetings after 2pm.", "We decided to use Postgres.", "I am allergic to peanuts.", "I live in Lisbon."),
    *("I work at Kestrel as a designer.", "Our production server runs on Hetzner.", "I prefer dark mode."),
    *(
        "My sister is called Ana.",
        "I have a dog called Bruno.",
        "I am learning the cello.",
        "My deadline is November 1.",
    ),
)


@pytest.fixture
def service(engine: Deployment) -> ChatService:
    return ChatService(engine, "app-notes", user_id="mara")


async def test_a_note_is_made_when_a_conversation_ends_and_not_before(engine: Deployment):
    service = ChatService(engine, "app-notes-phoenix", user_id="mara")
    talk = service.conversation()
    await service.say(talk, ("user", "I prefer meetings after 2pm."), ("assistant", "Noted."))
    await service.window(talk, 2)
    assert await service.texts("app-notes-phoenix") == []
    await service.end(talk)
    await service.extracted(talk)
    (note,) = await service.memories("app-notes-phoenix")
    assert (note["kind"], note["text"]) == ("preference", "User prefers meetings after 2pm.")
    assert len(note["text"]) <= 200
    assert [source["conversation_id"] for source in note["sources"]] == [talk]

    other = ChatService(engine, "app-notes-other", user_id="mara")
    other_talk = other.conversation()
    await other.say(other_talk, ("user", "I live in Lisbon."))
    await other.end(other_talk)
    await other.extracted(other_talk)
    assert await other.texts("app-notes-other") == ["User lives in Lisbon."], "one app knows nothing of another's notes"

    await service.command("delete", "app-notes-phoenix", memory_id=str(note["memory_id"]), reason="asked to")
    assert await service.texts("app-notes-phoenix") == []


async def test_an_eleventh_note_triggers_compaction_to_ten_notes_and_a_compacted_event(service: ChatService):
    talks = [service.conversation() for _ in NOTES]
    for talk, said in zip(talks, NOTES, strict=True):
        await service.say(talk, ("user", said), ("assistant", "I see."))
        await service.end(talk)
    for talk in talks:
        await service.extracted(talk)
    assert len(await service.memories("app-notes")) == 10

    async def compacted() -> list[str]:
        events = [event for event in await service.deployment.values(topics.EVENTS) if event["subject"]]
        own = [event for event in events if event["data"]["namespace"] == "app-notes"]
        return [event["type"] for event in own if event["type"] == "memstream.memory.compacted"]

    assert await eventually(compacted, "a compaction is told", WITHIN_S)


async def test_a_note_tells_what_the_assistant_stated_as_the_assistants(engine: Deployment):
    service = ChatService(engine, "app-notes-shop", user_id="mara")
    talk = service.conversation()
    await service.say(
        talk,
        ("user", "Which printer is cheaper?"),
        ("assistant", "The order at Kestrel costs 250 euros."),
        ("user", "We decided to use Kestrel."),
    )
    await service.end(talk)
    await service.extracted(talk)

    (note,) = await service.memories("app-notes-shop")
    assert note["text"] == "The assistant: The order at Kestrel costs 250 euros. User's team decided to use Kestrel."
    assert [source.get("attributed_to") for source in note["sources"]] == ["assistant", None]


async def test_a_conversation_produces_one_note_that_contains_all_its_statements(engine: Deployment):
    service = ChatService(engine, "app-notes-one", user_id="mara")
    talk = service.conversation()
    await service.say(
        talk, ("user", "I prefer dark mode."), ("assistant", "So do I."), ("user", "I am allergic to nuts.")
    )
    await service.end(talk)
    await service.extracted(talk)
    assert await service.texts("app-notes-one") == ["User prefers dark mode. User is allergic to nuts."]


async def test_uninstalling_an_app_keeps_its_memories_unless_purge_is_requested(engine: Deployment):
    service = ChatService(engine, "app-notes-gone", user_id="mara")
    talk = service.conversation()
    await service.say(talk, ("user", "I live in Lisbon."))
    await service.end(talk)
    await service.extracted(talk)
    await service.command("uninstall", "app-notes-gone")
    assert await service.texts("app-notes-gone") == ["User lives in Lisbon."]
    await service.command("uninstall", "app-notes-gone", purge=True)
    assert await service.texts("app-notes-gone") == []


async def test_context_contains_the_dated_notes_of_its_own_app_and_none_of_another_app(
    engine: Deployment, api: httpx.AsyncClient
):
    service, other = (ChatService(engine, f"app-notes-{name}", user_id="mara") for name in ("told", "silent"))
    for said in ("I prefer meetings after 2pm.", "We decided to use Postgres."):
        talk = service.conversation()
        await service.say(talk, ("user", said), ("assistant", "Noted."))
        await service.end(talk)
        await service.extracted(talk)
    talk, elsewhere = service.conversation(), other.conversation()
    await service.say(talk, ("user", "When do we meet?"))
    await other.say(elsewhere, ("user", "When do we meet?"))
    await service.archived(talk, 1)
    await other.archived(elsewhere, 1)

    block = await made(api, conversation_id=talk)
    notes = await service.memories("app-notes-told")
    assert block["text"].split("\n")[0] == "(memories for app: app-notes-told)"
    lines = [line for line in block["text"].split("\n") if line[:1].isdigit()]
    dated = [f"[Created: {note['created_at'].astimezone(UTC):%Y-%m-%d}] {note['text']}" for note in notes[::-1]]
    assert lines == [f"{number}. {line}" for number, line in enumerate(dated, start=1)], "the newest first"
    assert block["text"].endswith("user: When do we meet?"), "what was just said is there"
    assert {each["memory_id"] for each in block["memories"]} == {str(note["memory_id"]) for note in notes}

    block = await made(api, conversation_id=elsewhere)
    assert (block["memories"], block["policy"]) == ([], "app-notes")
    assert "meetings" not in block["text"]


async def made(api: httpx.AsyncClient, **parameters: object) -> dict[str, Any]:
    """A context block, once the API knows of the conversation and of the app's policy."""
    answer = await api.post("/v1/context", json=parameters)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())
