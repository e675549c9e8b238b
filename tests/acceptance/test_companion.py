"""Preset companion: users' statements in nine kinds and custom ones, with short and full texts and versions."""

import httpx
import pytest

from deploy.policies.files import preset, read_file
from schemas.extraction import importance
from tests.acceptance.service import ChatService
from tests.deployment import Deployment

FULL = "Ana moved to Porto in 2019, after her divorce. She was sad at first; now she has a garden. " * 20


@pytest.fixture
def companion(engine: Deployment) -> ChatService:
    return ChatService(engine, "companion", user_id="tom")


async def test_statements_of_a_user_become_memories_of_the_companion_kinds(companion: ChatService):
    talk = companion.conversation()
    said = ("I prefer green tea.", "I am flying to Lisbon next Friday.", "My sister is called Ana.")
    await companion.say(talk, *(("user", each) for each in said), ("assistant", "How lovely!"))
    await companion.end(talk)
    await companion.extracted(talk)
    memories = await companion.memories("tom")
    assert {(memory["created_by"], *memory["told_by"]) for memory in memories} == {("offline", "tom")}
    assert {source["user_id"] for memory in memories for source in memory["sources"]} == {"tom"}
    found = {memory["text"]: memory["kind"] for memory in memories}
    assert found == {
        "User prefers green tea.": "interest",
        "User is flying to Lisbon on 2026-03-06 (said: next Friday).": "goal",
        "User's sister is called Ana.": "person",
    }


async def test_a_memory_with_short_and_full_text_is_created_indexed_by_kind_and_versioned_on_update(
    companion: ChatService,
):
    short = "Ana moved to Porto after her divorce; she felt sad at first and is happy now."
    rated = importance.of_points(3_000)
    await companion.command("create", "ana", text=short, full_text=FULL, memory_kind="person", importance=rated)
    (memory,) = await companion.memories("ana")
    assert (memory["text"], memory["full_text"], memory["kind"], memory["created_by"]) == (
        short,
        FULL,
        "person",
        "admin",
    )
    assert importance.points(memory["importance"]) == 3_000
    assert importance.band(importance.points(memory["importance"])) == "very important"
    name = str(memory["memory_id"])
    assert (await companion.deployment.points())[name][0]["kinds"] == ["person"]

    changed = "Ana lives in Porto and is happy."
    await companion.command("update", "ana", memory_id=name, text=changed)
    (memory,) = await companion.memories("ana")
    assert (memory["text"], memory["version"]) == (changed, 2)
    rows = await companion.deployment.fetch(
        "SELECT * FROM memory_versions WHERE memory_id = $1 ORDER BY version", memory["memory_id"]
    )
    assert [row["version"] for row in rows] == [1, 2]
    assert short in str(rows[0]), "the old text stays readable"


def test_the_policy_describes_nine_kinds_with_icons_and_allows_new_kinds():
    (written,) = read_file(preset("companion"))
    policy = written.policy
    nine = ("person", "event", "emotion", "interest", "fact", "skill", "goal", "problem", "location")
    assert policy.kinds == nine and policy.unknown_kinds == "create"
    assert all(kind.description and kind.icon for kind in policy.described_kinds)
    assert (policy.style, policy.feelings, policy.full_text, policy.max_text_chars) == ("companion", True, True, 2_000)


async def test_search_filters_by_kind_and_points_sorts_by_importance_and_context_shows_points(
    companion: ChatService, api: httpx.AsyncClient
):
    for kind, text, points in (
        ("person", "Ana, the user's sister, felt sad after her divorce.", 3_000),
        ("event", "The user's graduation was the happiest day of the year.", 800),
        ("person", "Bruno sells bread at the corner.", 60),
    ):
        new = {"namespace": "ines", "text": text, "kind": kind, "importance": points, "scale": "points"}
        made = await api.post("/v1/memories", json=new | {"full_text": f"{text} {FULL}"})
        assert made.status_code == 201, made.text

    async def found(**parameters: object) -> list[tuple[str, int]]:
        answer = await api.get("/v1/search", params={"namespace": "ines", "scale": "points", **parameters})
        assert answer.status_code == 200, answer.text
        memories = [hit["memory"] for hit in answer.json()["hits"]]
        return [(memory["text"][:3], memory["importance_points"]) for memory in memories]

    assert await found() == [("Ana", 3_000), ("The", 800), ("Bru", 60)]
    assert await found(kind=["person", "event"], min_importance=500, limit=1) == [("Ana", 3_000)]
    assert await found(kind=["person"], min_importance=50) == [("Ana", 3_000), ("Bru", 60)]

    block = (
        await api.post("/v1/context", json={"scope": {"app_id": "companion", "user_id": "ines"}, "text": "How is Ana?"})
    ).json()
    assert "- [PERSON] Ana, the user's sister, felt sad after her divorce. (importance: 3000)" in block["text"]
    memory_id = block["memories"][0]["memory_id"]
    short, full = [
        (await api.get(f"/v1/memories/{memory_id}", params={"detail": detail})).json() for detail in ("short", "full")
    ]
    assert "full_text" not in short and full["full_text"].endswith(FULL)
    assert (short["importance_band"], short["importance_points"]) == ("very important", 3_000)
