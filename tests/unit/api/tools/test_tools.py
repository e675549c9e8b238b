"""Agent tools read and change only the namespaces they are granted."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from agents.api.tools.tools import UNAVAILABLE
from agents.curation.rules.ledger.outcomes import Outcome
from schemas.errors import Retryable
from schemas.extraction.candidates import Source
from tests.api import Api
from tests.fakes.toolset import MINE, NOON, SHARED, THEIRS, Toolset, spoken
from tests.unit.api.tools.using_tools import fields, refused, said


async def test_a_memory_created_by_a_tool_can_be_found_and_read(toolset: Toolset) -> None:
    tools = toolset.tools(actor="agent:chef")
    given = {
        "text": "User keeps bees.",
        "kind": "fact",
        "importance": 0.75,
        "tags": ["garden"],
        "full_text": "Two hives.",
    }
    kept = await said(tools, "create_memory", **given)
    assert kept["change"] == "created"
    (command,) = toolset.commands.seen
    assert (command.namespace, command.actor, command.at) == (MINE, "agent:chef", NOON)
    (found,) = (await said(tools, "search_memories", query="bees"))["memories"]
    assert found == {
        "memory_id": kept["memory_id"],
        "namespace": MINE,
        "kind": "fact",
        "text": "User keeps bees.",
        "importance": 0.75,
        "importance_points": 1_000,
        "version": 0,  # of what the fake curator made
        "said_on": "2026-03-01",
        "tags": ["garden"],
        "more": "get_memory with full=true returns the full text",
    }
    read = await said(tools, "get_memory", memory_id=kept["memory_id"], full=True)
    assert read["memory"]["full_text"] == "Two hives." and "more" not in read["memory"]


async def test_reads_by_tools_are_counted(toolset: Toolset) -> None:
    tools = toolset.tools()
    await said(tools, "search_memories", query="allergic")
    await said(tools, "get_memory", memory_id="id of User prefers short recipes.")
    await refused(tools, "get_memory", {"memory_id": "id of Tom is allergic to milk."})
    assert toolset.noted == ["User is allergic to peanuts.", "User prefers short recipes."]


async def test_the_search_tool_without_a_query_orders_by_importance_and_applies_filters(toolset: Toolset) -> None:
    tools = toolset.tools()
    found = (await said(tools, "search_memories"))["memories"]
    assert [each["text"] for each in found] == ["User is allergic to peanuts.", "User prefers short recipes."]
    for given in ({"min_importance": 0.8}, {"tags": ["food"]}, {"kinds": ["fact"]}, {"limit": 1}):
        (only,) = (await said(tools, "search_memories", **given))["memories"]
        assert only["text"] == "User is allergic to peanuts."
    assert (await said(tools, "search_memories", query="zeppelins"))["memories"] == []


async def test_tools_with_one_namespace_have_no_namespace_parameter_and_reject_others(toolset: Toolset) -> None:
    tools = toolset.tools()
    assert all("namespace" not in fields(tools, each["name"]) for each in tools.definitions())
    for name, given in (("create_memory", {"text": "x"}), ("search_memories", {"query": "allergic"})):
        assert "no memory space 'kitchen/tom'" in await refused(tools, name, given | {"namespace": THEIRS})
    assert toolset.commands.seen == []


async def test_tools_with_several_namespaces_search_all_and_let_the_model_choose_one(toolset: Toolset) -> None:
    tools = toolset.tools(MINE, SHARED)
    assert fields(tools, "search_memories")["namespace"]["enum"] == [MINE, SHARED]
    found = (await said(tools, "search_memories"))["memories"]
    assert {each["namespace"] for each in found} == {MINE, SHARED}
    (only,) = (await said(tools, "search_memories", namespace=SHARED))["memories"]
    assert only["text"] == "The kitchen has no oven."
    await said(tools, "create_memory", text="The kitchen has a stove.", namespace=SHARED)
    await said(tools, "create_memory", text="User has a knife.")
    assert [command.namespace for command in toolset.commands.seen] == [SHARED, MINE]


async def test_a_read_only_namespace_is_searchable_but_not_writable_by_tools(toolset: Toolset) -> None:
    tools = toolset.tools(MINE, SHARED, writable=(MINE,))
    assert "namespace" not in fields(tools, "create_memory")
    assert fields(tools, "search_memories")["namespace"]["enum"] == [MINE, SHARED]
    assert "no memory space 'kitchen' here" in await refused(tools, "create_memory", {"text": "x", "namespace": SHARED})
    await said(tools, "create_memory", text="User has a knife.")
    assert [command.namespace for command in toolset.commands.seen] == [MINE]


async def test_the_get_tool_answers_a_memory_of_another_namespace_like_a_missing_one(toolset: Toolset) -> None:
    theirs = "id of Tom is allergic to milk."
    foreign = await refused(toolset.tools(), "get_memory", {"memory_id": theirs})
    missing = await refused(toolset.tools(), "get_memory", {"memory_id": "nobody"})
    assert foreign.replace(theirs, "ID") == missing.replace("nobody", "ID")


async def test_the_context_tool_returns_memories_and_recent_messages(toolset: Toolset) -> None:
    block = await said(toolset.tools(), "get_context", query="allergic", conversation_id="of-ada")
    assert "allergic to peanuts" in block["context"] and "I keep bees." in block["context"]
    assert set(block["memory_ids"]) == {"id of User is allergic to peanuts.", "id of User prefers short recipes."}
    without = await said(toolset.tools(), "get_context", query="allergic")
    assert "bees" not in without["context"]


async def test_the_context_tool_puts_the_profile_first(toolset: Toolset) -> None:
    block = await said(toolset.tools(), "get_context", query="bees", conversation_id="of-ada")
    heeded = block["context"].index("Always to be heeded:\n- User is allergic to peanuts.")
    assert heeded < block["context"].index("user: I keep bees.") and block["context"].count("allergic") == 1
    assert "id of User is allergic to peanuts." in block["memory_ids"]


async def test_the_search_tool_returns_passages_with_speaker_and_time(toolset: Toolset) -> None:
    spoken(toolset)
    found = await said(toolset.tools(), "search_memories", query="Was it the night train?")
    assert found["said"] == [
        {
            "said_at": "2026-03-01T12:00:00Z",
            "speaker": "ada",
            "text": "We took the night train to Porto.",
            "conversation_id": "trip",
            "message_id": "talk-1",
            "namespace": MINE,
        }
    ]
    assert "said" not in await said(toolset.tools(), "search_memories", query="night train", where="memories")


async def test_a_reply_found_by_the_search_tool_includes_the_question_before_it(toolset: Toolset) -> None:
    question = toolset.said.say("How did you travel?", at=NOON, namespace=MINE, speaker="tom")
    reply = toolset.said.say("By night train.", at=NOON, namespace=MINE)
    toolset.said.neighbours[reply.passage_id] = (question,)
    (found,) = (await said(toolset.tools(), "search_memories", query="night train"))["said"]
    assert found["before"] == [{"speaker": "tom", "text": "How did you travel?", "message_id": question.message_id}]
    assert "after" not in found


async def test_unreadable_passages_take_no_places_of_others_in_the_search_tool(toolset: Toolset) -> None:
    for _ in range(5):
        toolset.said.say("The night train again.", at=NOON, namespace=SHARED, owners=(THEIRS,), speaker="tom")
    toolset.said.say("A train.", at=NOON, namespace=SHARED, owners=(MINE,))
    given = {"query": "night train", "where": "said", "limit": 5}
    found = await said(toolset.tools(MINE, SHARED), "search_memories", **given)
    assert [each["text"] for each in found["said"]] == ["A train."]


async def test_tools_hide_passages_of_unreadable_owners_in_a_shared_namespace(toolset: Toolset) -> None:
    spoken(toolset)
    alone = await said(toolset.tools(MINE, SHARED), "search_memories", query="night train", where="said")
    assert [each["speaker"] for each in alone["said"]] == ["ada"]
    both = await said(toolset.tools(MINE, SHARED, THEIRS), "search_memories", query="night train", where="said")
    assert [each["speaker"] for each in both["said"]] == ["ada", "tom", "tom"]
    context = await said(toolset.tools(MINE, SHARED), "get_context", query="night train")
    assert "Porto" in context["context"] and "again" not in context["context"]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"speaker": "tom"}, 0),
        ({"speaker": "ada"}, 1),
        ({"since": "2026-03-01"}, 1),
        ({"since": "2026-03-02"}, 0),
        ({"until": "2026-03-01"}, 0),
        ({"kinds": ["fact"], "where": "both"}, 0),
    ],
)
async def test_the_search_tool_filters_passages_by_speaker_and_day(
    toolset: Toolset, given: dict[str, Any], found: int
) -> None:
    spoken(toolset)
    answer = await said(toolset.tools(), "search_memories", query="night train", **given)
    assert len(answer.get("said", [])) == found


async def test_a_memory_read_in_full_includes_its_source_passages(toolset: Toolset) -> None:
    spoken(toolset)
    source = Source(conversation_id="trip", message_id="talk-1")
    (memory_id, memory), *_ = toolset.remembered.known.items()
    toolset.remembered.known[memory_id] = replace(memory, sources=(source,))
    assert "said" not in await said(toolset.tools(), "get_memory", memory_id=memory_id)
    (quoted,) = (await said(toolset.tools(), "get_memory", memory_id=memory_id, full=True))["said"]
    assert quoted["text"] == "We took the night train to Porto."


async def test_the_context_tool_treats_an_unreadable_conversation_like_an_unknown_one(toolset: Toolset) -> None:
    foreign = await said(toolset.tools(), "get_context", query="allergic", conversation_id="of-tom")
    unknown = await said(toolset.tools(), "get_context", query="allergic", conversation_id="of-nobody")
    assert foreign == unknown and "wolves" not in foreign["context"] and "milk" not in foreign["context"]


async def test_tools_without_writable_namespaces_exclude_the_writing_ones(toolset: Toolset) -> None:
    tools = toolset.tools(writable=())
    assert [each["name"] for each in tools.definitions()] == ["get_memory", "search_memories", "get_context"]
    assert "no tool 'create_memory'" in await refused(tools, "create_memory", {"text": "x"})
    assert toolset.commands.seen == []


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("forget_all", {}, "the tools are: create_memory, get_memory, search_memories, get_context"),
        ("create_memory", {}, "text"),
        ("create_memory", {"text": ""}, "length >= 1"),
        ("create_memory", {"text": "x" * 4_001}, "length <= 4000"),
        ("create_memory", {"text": "x", "importance": 3}, "<= 1.0"),
        ("create_memory", {"text": "x", "kind": "mood"}, "fact, preference, decision, plan, insight"),
        ("create_memory", {"text": "x", "pinned": True}, "pinned"),
        ("create_memory", {"text": "x", "tags": ["x"] * 65}, "length <= 64"),
        ("search_memories", {"tags": ["x"] * 65}, "length <= 64"),
        ("search_memories", {"kinds": ["x"] * 65}, "length <= 64"),
        ("search_memories", {"limit": 51}, "<= 50"),
        ("search_memories", {"query": 7}, "query"),
        ("search_memories", {"query": "x", "where": "everywhere"}, "where"),
        ("search_memories", {"where": "said"}, "needs a text"),
        ("search_memories", {"query": "x", "where": "said", "kinds": ["fact"]}, "search in memories or both"),
        ("search_memories", {"query": "x", "since": "yesterday"}, "a day such as 2026-03-02"),
        ("get_memory", "id", "got `str`"),
        ("get_memory", None, "got `null`"),
    ],
)
async def test_an_invalid_tool_call_returns_an_error_that_names_the_mistake(
    toolset: Toolset, name: str, given: Any, why: str
) -> None:
    assert why in await refused(toolset.tools(), name, given)
    assert toolset.commands.seen == []


async def test_a_rejected_command_is_a_tool_error_with_its_reason(toolset: Toolset) -> None:
    toolset.commands.outcome = Outcome(status="rejected", namespace=MINE, sequence=1, reason="older than the erasure")
    assert "older than the erasure" in await refused(toolset.tools(), "create_memory", {"text": "x"})


async def test_a_slow_command_returns_its_id_with_a_note_not_to_repeat_it(toolset: Toolset) -> None:
    toolset.commands.late = True
    waiting = await said(toolset.tools(), "create_memory", text="x")
    (command,) = toolset.commands.seen
    assert waiting["command_id"] == command.command_id
    assert waiting["ask"] == f"/v1/commands/{command.command_id}?namespace={quote(MINE, safe='')}"
    assert "Do not create it again" in waiting["note"]


async def test_the_outcome_of_a_slow_tool_call_is_available_at_the_returned_path() -> None:
    api = Api()
    api.curation.late = True
    client = api.client(write="app/ada")
    made = await client.post("/v1/tools/create_memory?namespace=app/ada", json={"input": {"text": "User skis."}})
    ask = json.loads(made.json()["content"])["ask"]
    assert (await client.get(ask)).json()["status"] == "pending"
    api.curation.late = False
    await api.curation.send_and_wait(api.curation.seen[0])
    assert (await client.get(ask)).json()["memory"]["text"] == "User skis."


async def test_an_outage_returns_a_generic_tool_error_without_server_details(toolset: Toolset) -> None:
    toolset.remembered.failure = toolset.commands.failure = Retryable("cannot reach 10.0.0.7:5432")
    for name, given in (("create_memory", {"text": "x"}), ("search_memories", {}), ("get_memory", {"memory_id": "i"})):
        assert await refused(toolset.tools(), name, given) == UNAVAILABLE
