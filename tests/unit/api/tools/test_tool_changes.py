"""Agent tools that change memories: definitions, results and limits of deletion."""

from typing import Any

import pytest

from agents.api.tools.access import tool_access
from schemas.memories.memories import Memory
from schemas.policies.kinds import Kind
from schemas.policies.matching import Match
from schemas.policies.policies import Policies, Policy
from tests.fakes.toolset import MINE, SHARED, THEIRS, Toolset, memory
from tests.unit.api.tools.using_tools import fields, refused, said


def test_tool_definitions_are_strict_and_describe_every_field_and_kind(toolset: Toolset) -> None:
    tools = toolset.tools(kinds=(Kind(name="mood", description="How they feel"), Kind(name="goal")))
    for each in tools.definitions():
        assert each["strict"] and each["input_schema"]["additionalProperties"] is False
        assert len(each["description"]) > 100
        assert all(field["description"] for field in each["input_schema"]["properties"].values())
    kinds = fields(tools, "create_memory")["kinds"]
    assert kinds["items"]["enum"] == ["mood", "goal"]
    assert "mood: How they feel" in kinds["description"]


def test_the_create_tool_has_content_and_kinds_with_the_limits_of_the_policy(toolset: Toolset) -> None:
    tools = toolset.tools(text_chars=2_000, new_kinds=True)
    (create, *_) = tools.definitions()
    assert create["input_schema"]["required"] == ["content", "kinds"]
    fields_of_create = fields(tools, "create_memory")
    assert set(fields_of_create) == {"content", "kinds", "tags", "context", "kind_description", "kind_icon"}
    assert "2000 characters" in fields_of_create["content"]["description"]
    assert (
        "enum" not in fields_of_create["kinds"]["items"]
        and "a kind of your own" in fields_of_create["kinds"]["description"]
    )
    assert fields(tools, "search_memories")["min_importance"]["type"] == "integer"


async def test_content_too_long_for_a_short_text_is_stored_as_full_text_without_an_importance(
    toolset: Toolset,
) -> None:
    tools = toolset.tools(text_chars=20)
    await said(tools, "create_memory", content="User keeps bees.", kinds=["fact", "preference", "fact"])
    await said(tools, "create_memory", content="User keeps bees and has two hives.", kinds=["fact"])
    short, long = toolset.commands.seen
    assert (short.text, short.full_text, short.memory_kind, short.kinds) == (
        "User keeps bees.",
        None,
        "fact",
        ("preference",),
    )
    assert (long.text, long.full_text) == (None, "User keeps bees and has two hives.")
    assert short.importance is long.importance is None


async def test_a_memory_created_in_the_own_namespace_of_a_user_is_attributed_to_that_user(toolset: Toolset) -> None:
    policies = Policies((Policy(name="kitchen", namespaces=("{app_id}", "{app_id}/{user_id}")),))
    reach = tool_access(policies, (MINE, SHARED), (MINE, SHARED), "agent")
    tools = toolset.tools(MINE, SHARED, users=reach.users)
    await said(tools, "create_memory", content="User keeps bees.", kinds=["fact"])
    await said(tools, "create_memory", content="The oven is broken.", kinds=["fact"], namespace=SHARED)
    own, shared = toolset.commands.seen
    assert (own.told_by, own.actor, shared.told_by) == (("ada",), "agent", None)
    found = (await said(tools, "search_memories"))["memories"]
    told_by = {each["text"]: each.get("told_by") for each in found}
    assert (told_by["User keeps bees."], told_by["The oven is broken."]) == (["ada"], None)


async def test_the_create_tool_accepts_new_kinds_only_if_the_policy_allows_them(toolset: Toolset) -> None:
    await said(toolset.tools(new_kinds=True), "create_memory", content="User dreams of owls.", kinds=["dream"])
    assert toolset.commands.seen[0].memory_kind == "dream"
    assert toolset.commands.seen[0].new_kinds is None
    described = {"kind_description": "What the user dreams of", "kind_icon": "🌙"}
    tools = toolset.tools(new_kinds=True)
    assert described.keys() <= fields(tools, "create_memory").keys()
    await said(tools, "create_memory", content="User dreams of the sea.", kinds=["fact", "dream"], **described)
    assert toolset.commands.seen[1].new_kinds == (Kind(name="dream", description="What the user dreams of", icon="🌙"),)
    assert not described.keys() & fields(toolset.tools(), "create_memory").keys()
    long = {"content": "User dreams.", "kinds": ["d" * 65], "kind_icon": "🌙"}
    assert "name" in await refused(tools, "create_memory", long)
    wrong = await refused(toolset.tools(), "create_memory", {"content": "User dreams of owls.", "kinds": ["dream"]})
    assert "There is no kind 'dream'" in wrong


async def test_the_search_tool_filters_importance_by_a_range_of_points(toolset: Toolset) -> None:
    tools = toolset.tools()
    (most,) = (await said(tools, "search_memories", min_importance=4_000))["memories"]
    assert (most["importance_points"], most["version"]) == (5_000, 1)
    (least,) = (await said(tools, "search_memories", min_importance=1, max_importance=4_000))["memories"]
    assert least["text"] == "User prefers short recipes."
    assert (await said(tools, "search_memories", min_importance=10_000))["memories"] == []


def keeps(toolset: Toolset, namespace: str) -> Memory:
    known = memory("User keeps bees.", namespace)
    toolset.remembered.known[known.memory_id] = known
    return known


def offered(tools: Any) -> set[str]:
    return {definition["name"] for definition in tools.definitions()}


async def test_the_delete_tool_is_not_offered_unless_a_policy_allows_it(toolset: Toolset) -> None:
    known = keeps(toolset, MINE)
    policies = Policies((Policy(name="p", namespaces=("{app_id}/{user_id}",)),))
    tools = toolset.tools(deletable=tool_access(policies, (MINE,), (MINE,), "mara").deletable)

    assert "delete_memory" not in offered(tools)
    assert "There is no tool" in await refused(tools, "delete_memory", {"memory_id": known.memory_id})


async def test_a_deletion_by_a_tool_is_attributed_to_the_agent_and_the_tool(toolset: Toolset) -> None:
    known = keeps(toolset, MINE)
    policies = Policies((Policy(name="p", namespaces=("{app_id}/{user_id}",), delete_tool=True),))
    allowed = tool_access(policies, (MINE, SHARED), (MINE, SHARED), "agent:chef")
    tools = toolset.tools(actor="agent:chef", deletable=allowed.deletable)

    assert allowed.deletable == (MINE,)
    answer = await said(tools, "delete_memory", memory_id=known.memory_id, reason="the user sold them")
    assert answer == {"memory_id": known.memory_id, "deleted": True}
    (command,) = toolset.commands.seen
    assert (command.kind, command.namespace, command.memory_id) == ("delete", MINE, known.memory_id)
    assert (command.actor, command.reason) == ("agent:chef", "as a tool: the user sold them")


@pytest.mark.parametrize(("namespace", "says"), [(SHARED, "cannot be deleted here"), (THEIRS, "There is no memory")])
async def test_the_delete_tool_rejects_memories_outside_its_deletable_namespaces(
    toolset: Toolset, namespace: str, says: str
) -> None:
    known = keeps(toolset, namespace)
    tools = toolset.tools(MINE, SHARED, deletable=(MINE,))

    assert says in await refused(tools, "delete_memory", {"memory_id": known.memory_id})
    assert not toolset.commands.seen


async def test_the_delete_tool_needs_the_right_to_write() -> None:
    policies = Policies((Policy(name="p", namespaces=("{app_id}/{user_id}",), delete_tool=True),))

    assert tool_access(policies, (MINE,), (), "mara").deletable == ()


@pytest.mark.parametrize("content", ["sk-proj-a8F3kd02LmQpX7tYw91ZbVcNe45RtGh6", "My card: 4111 1111 1111 1111"])
async def test_content_that_is_little_more_than_a_secret_is_refused_with_the_reason(
    toolset: Toolset, content: str
) -> None:
    assert "leave them out" in await refused(toolset.tools(), "create_memory", {"content": content, "kinds": ["fact"]})
    assert toolset.commands.seen == []


async def test_wrong_input_is_explained_with_the_name_of_the_tool(toolset: Toolset) -> None:
    explained = await refused(toolset.tools(), "search_memories", {"query": 5})
    assert explained == "This is no input of search_memories: Expected `str`, got `int` - at `$.query`"


async def test_an_agent_gets_the_kinds_and_the_delete_tool_of_the_policy_of_its_namespace(toolset: Toolset) -> None:
    match, templates = Match(app_id="builder"), ("{app_id}/{agent_id}",)
    builder = Policy(name="builder", match=match, namespaces=templates, taxonomy=("pattern",), delete_tool=True)
    access = tool_access(Policies((builder,)), ("builder/forge",), ("builder/forge",), "agent")
    assert ([kind.name for kind in access.kinds], access.deletable, access.users) == (
        ["pattern"],
        ("builder/forge",),
        {},
    )
