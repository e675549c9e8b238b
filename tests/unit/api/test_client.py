"""The sample client works with the API's routes."""

from collections.abc import AsyncIterator

import httpx
import pytest

from deploy.samples.memstream_client import Conflict, Forbidden, Invalid, Memstream, NotFound, Unauthorized
from schemas.codec import decode
from schemas.conversations.messages import Scope
from schemas.conversations.user_settings import User
from schemas.conversations.windows import Restorable
from schemas.extraction.candidates import Source
from schemas.kafka import topics
from schemas.windows.window_controls import WindowControl
from tests.api import NOON, Api, a_memory
from tests.fakes.windows import AT_S, a_state

ADA, TOM = "app/ada", "app/tom"


def client_of(api: Api, **rights: str) -> Memstream:
    transport = httpx.ASGITransport(api.app, raise_app_exceptions=False)
    return Memstream("http://api", api.keys.add(**rights) if rights else None, transport=transport)


@pytest.fixture
async def client(api: Api) -> AsyncIterator[Memstream]:
    async with client_of(api, write="app/*") as client:
        yield client


async def test_the_validity_of_a_memory_can_be_written_and_read(client: Memstream) -> None:
    march, april = "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"
    made = await client.create(ADA, "User is in Porto.", valid_from=march)
    await client.update(made.memory_id or "", valid_until=april)
    memory = await client.get(made.memory_id or "")
    assert (memory.valid_from, memory.valid_until, memory.said_at) == (march, april, None)


async def test_a_memory_can_be_created_read_updated_deleted_and_restored(client: Memstream) -> None:
    made = await client.create(ADA, "User keeps bees.", tags=["garden"], importance=0.7, kind="fact")
    assert (made.status, made.change, made.namespace, made.more["memory"]["text"]) == (
        *("accepted", "created", ADA),
        "User keeps bees.",
    )
    memory = await client.get(made.memory_id or "")
    assert (memory.text, memory.tags, memory.importance, memory.version) == ("User keeps bees.", ("garden",), 0.7, 1)
    assert (await client.update(memory.memory_id, text="User keeps hens.", pinned=True)).change == "updated"
    assert [(each.text, each.pinned) async for each in client.memories(ADA)] == [("User keeps hens.", True)]
    assert (await client.delete(memory.memory_id)).change == "deleted"
    with pytest.raises(NotFound):
        await client.get(memory.memory_id)
    assert (await client.undo(memory.memory_id)).change == "restored"
    assert (await client.undo(memory.memory_id, version=2)).status == "accepted"
    assert (await client.get(memory.memory_id)).text == "User keeps bees."


async def test_an_erased_memory_is_gone_and_cannot_be_restored(api: Api) -> None:
    async with client_of(api, admin="app/*") as client:
        made = await client.create(ADA, "User keeps bees.")
        erased = await client.erase(made.memory_id or "")
        assert (erased.status, erased.change, erased.more["erased"]["versions"]) == ("accepted", "purged", 1)
        again = await client.erase(made.memory_id or "", keep_messages=True)
        assert again.reason == f"memory {made.memory_id} was erased before"
        for call in (client.get, client.undo):
            with pytest.raises(NotFound):
                await call(made.memory_id or "")


async def test_listing_memories_follows_all_pages(client: Memstream) -> None:
    for number in range(7):
        await client.create(ADA, f"User has read book {number}.")
    assert len([memory async for memory in client.memories(ADA, limit=3, order="importance")]) == 7


async def test_the_client_waits_for_a_pending_change(api: Api, client: Memstream) -> None:
    api.curation.late = True
    pending = await client.create(ADA, "User keeps bees.")
    assert pending.status == "pending"
    api.curation.late = False
    await api.curation.send_and_wait(api.curation.seen[0])
    assert (await client.wait_for(pending)).change == "created"


async def test_the_client_parses_search_results_context_blocks_and_tools(api: Api, client: Memstream) -> None:
    api.archive.say("c1", ("user", "I keep bees."), app_id="app", user_id="ada")
    api.remembered.known["m1"] = a_memory(namespace=ADA, text="User keeps bees.", tags=("garden",))
    found = await client.search("bees", ADA, limit=5, explain=True, kinds=["fact"], min_importance=0.1)
    assert [(memory.text, memory.tags, found.degraded) for memory in found.memories] == [
        ("User keeps bees.", ("garden",), ())
    ]
    assert found.hits[0].more["parts"] and 0 < found.hits[0].score <= 1
    assert (await client.search(None, ADA)).hits[0].more == {}
    block = await client.context("bees", ADA, conversation_id="c1", max_tokens=100, cite=True)
    assert "I keep bees." in block.text and block.messages[0]["message_id"] == "c1-1"
    assert "search_memories" in [tool["name"] for tool in await client.tools(ADA)]


async def test_the_client_reads_a_profile_and_a_context_that_does_not_repeat_it(api: Api, client: Memstream) -> None:
    await client.create(ADA, "User is allergic to peanuts.")
    profile = await client.profile(ADA)
    assert "- User is allergic to peanuts." in profile.text and profile.lines[0]["part"] == "constraint"
    api.searched.memories = list(api.memories.rows.values())
    block = await client.context("peanuts", ADA, profile=True)
    assert "allergic" not in block.text and block.more["profile"]["version"] == profile.version
    (left,) = (await client.context("peanuts", ADA, profile=True, explain=True)).more["left_out"]
    assert (left["tier"], left["text"], left["reason"]) == ("memories", "User is allergic to peanuts.", "in_profile")


async def test_the_client_searches_and_reads_passages(api: Api, client: Memstream) -> None:
    said = api.said.say("We keep bees behind the barn.", at=NOON, speaker="ada")
    source = Source(conversation_id="talk", message_id="talk-1")
    known = a_memory("m1", namespace=ADA, text="User keeps bees.", sources=(source,))
    api.remembered.known["m1"] = known
    api.memories.put(known)
    api.said.say("The bees swarm in May.", at=NOON, speaker="ada")
    both = await client.search("bees", ADA, related=True)
    assert [(each.speaker, each.text) for each in both.passages] == [("ada", "The bees swarm in May.")]
    assert [hit.more.get("sources", [{}])[0].get("message_id") for hit in both.hits if hit.memory] == ["talk-1"]
    passages = await client.search("bees barn", ADA, tier="said", related=True, limit=1)
    assert [hit.more.get("memory_ids") for hit in passages.hits] == [["m1"]]
    only = await client.search("bees", ADA, tier="said", passages={"speakers": ["tom"]})
    assert only.hits == ()
    api.said.neighbours[said.passage_id] = (
        question := api.said.say("Where are they?", at=NOON, speaker="tom", ordinal=0),
    )
    (hit,) = (await client.search("bees barn", ADA, tier="said", limit=1)).hits
    assert [each.text for each in hit.neighbours] == ["Where are they?"]
    assert hit.message_ids == (question.message_id, said.message_id)
    passage = await client.passage(said.passage_id)
    assert (passage.text, passage.more["memories"][0].memory_id) == ("We keep bees behind the barn.", "m1")


async def test_problem_responses_raise_matching_exceptions(api: Api, client: Memstream) -> None:
    made = await client.create(ADA, "User keeps bees.")
    with pytest.raises(Invalid):
        await client.update(made.memory_id or "", colour="blue")
    await client.delete(made.memory_id or "")
    with pytest.raises((NotFound, Conflict)):
        await client.update(made.memory_id or "", text="x")
    async with client_of(api, read=TOM) as reader, client_of(api) as stranger:
        with pytest.raises(Forbidden):
            await reader.create(TOM, "x")
        with pytest.raises(NotFound):
            await reader.get(made.memory_id or "")
        with pytest.raises(Unauthorized):
            await stranger.search("x", ADA)


async def test_conversations_are_listed_page_after_page(api: Api, client: Memstream) -> None:
    for number, user_id in enumerate(("ada", "ada", "tom")):
        scope = Scope(conversation_id=f"c{number}", app_id="app", user_id=user_id)
        await api.windows.project([a_state(f"c{number}", scope=scope, last_message_at=AT_S + number)])
    assert [each["conversation_id"] async for each in client.conversations(limit=1)] == ["c2", "c1", "c0"]
    assert [each["total_messages"] async for each in client.conversations(ADA, phase="open")] == [20, 20]


async def test_the_client_reads_a_page_of_messages_around_a_message(api: Api, client: Memstream) -> None:
    api.archive.say("talk", *[("user", f"Turn {n}.") for n in range(1, 10)], app_id="app", user_id="ada")
    page = await client.messages("talk", around="talk-5", limit=3)
    assert [each["message_id"] for each in page["messages"]] == ["talk-4", "talk-5", "talk-6"]
    behind = await client.messages("talk", cursor=page["next"], limit=1)
    assert [each["message_id"] for each in behind["messages"]] == ["talk-7"]


async def test_ids_of_conversations_and_users_may_contain_slashes(api: Api, client: Memstream) -> None:
    api.archive.say("talk/7", ("user", "I keep bees."), app_id="app", user_id="ada/2")
    assert [each["content"] for each in (await client.messages("talk/7"))["messages"]] == ["I keep bees."]
    await client.set_user_settings("ada/2", app_id="app", max_messages=30)
    assert (await api.user_settings.chosen_for(User(user_id="ada/2", app_id="app"))).max_messages == 30


async def test_a_limit_of_zero_is_rejected_and_not_left_out(client: Memstream) -> None:
    with pytest.raises(Invalid, match="limit"):
        await client.search("bees", ADA, limit=0)


async def test_marking_a_message_publishes_a_window_control(api: Api, client: Memstream) -> None:
    api.archive.say("c1", ("user", "I keep bees."), app_id="app", user_id="ada")
    await api.windows.project([a_state("c1")])
    await client.mark("c1", "c1-1", "pinned")
    (record,) = api.published.on(topics.WINDOW_CONTROL)
    assert decode(record.value, WindowControl).importance == "pinned"
    with pytest.raises(NotFound, match="no message 'c1-9'"):
        await client.mark("c1", "c1-9", "pinned")


@pytest.mark.parametrize("kind", ["flush", "prune", "clear", "restore"])
async def test_a_window_action_publishes_a_window_control_of_its_kind(api: Api, client: Memstream, kind: str) -> None:
    api.archive.say("c1", ("user", "I keep bees."), app_id="app", user_id="ada")
    left = Restorable(api.now.timestamp() + 60, "manual", 3)
    await api.windows.project([a_state("c1", restorable=left)])
    await client.control("c1", kind)
    (record,) = api.published.on(topics.WINDOW_CONTROL)
    assert decode(record.value, WindowControl).kind == kind


async def test_choosing_conversation_settings_publishes_a_window_control(api: Api, client: Memstream) -> None:
    api.archive.say("c1", ("user", "I keep bees."), app_id="app", user_id="ada")
    await api.windows.project([a_state("c1")])
    await client.set_conversation_settings("c1")
    (record,) = api.published.on(topics.WINDOW_CONTROL)
    assert decode(record.value, WindowControl).kind == "settings"
    with pytest.raises(Invalid, match="allows no max_messages"):
        await client.set_conversation_settings("c1", max_messages=30)


async def test_user_settings_are_stored_for_one_app(api: Api, client: Memstream) -> None:
    await client.set_user_settings("ada", app_id="app", max_messages=30)
    user = User(user_id="ada", app_id="app")
    assert (await api.user_settings.chosen_for(user)).max_messages == 30
    assert (await api.user_settings.chosen_for(User(user_id="ada"))).max_messages is None
