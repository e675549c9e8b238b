"""Reading one memory, and the memories of a namespace, over HTTP."""

import json
from datetime import timedelta

import pytest

from schemas.extraction.candidates import Source
from tests.api import NOON, Api, a_memory

LISTED = {"namespace": "app/ada"}


async def test_a_memory_is_returned_in_full_with_its_importance_on_every_scale(api: Api):
    api.memories.put(a_memory(importance=0.6, full_text="At length.", tags=("home",)))
    answer = await api.client(read="app/*").get("/v1/memories/m1")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert (body["text"], body["full_text"], body["tags"]) == ("User lives in Ghent.", "At length.", ["home"])
    assert (body["importance"], body["importance_tenths"], body["importance_points"]) == (0.6, 6.0, 500)
    assert body["importance_band"] == "notable"


async def test_every_view_of_a_memory_has_its_last_said_time_and_validity(api: Api):
    said = [Source(conversation_id="c", message_id=f"m{day}", timestamp=NOON + timedelta(days=day)) for day in (3, 1)]
    bounds = {"valid_from": NOON, "valid_until": NOON + timedelta(days=90)}
    api.memories.put(a_memory(sources=tuple(said), **bounds))
    client = api.client(read="app/*")
    bodies = [
        (await client.get("/v1/memories/m1")).json(),
        (await client.get("/v1/memories/m1", params={"detail": "short"})).json(),
        *(await client.get("/v1/memories", params=LISTED)).json()["memories"],
        json.loads((await client.get("/v1/export", params=LISTED)).text),
    ]
    assert len(bodies) == 4
    times = {(each["said_at"][:10], each["valid_from"][:10], each["valid_until"][:10]) for each in bodies}
    assert times == {tuple(f"{at:%Y-%m-%d}" for at in (NOON + timedelta(days=3), NOON, NOON + timedelta(days=90)))}


async def test_a_memory_without_timestamped_sources_has_no_said_at(api: Api):
    api.memories.put(a_memory())
    assert "said_at" not in (await api.client(read="app/*").get("/v1/memories/m1")).json()


async def test_the_short_view_omits_full_text_context_and_sources(api: Api):
    api.memories.put(a_memory(full_text="At length.", context="When they said so."))
    body = (await api.client(read="*").get("/v1/memories/m1", params={"detail": "short"})).json()
    assert body["text"] == "User lives in Ghent."
    assert not {"full_text", "context", "sources"} & body.keys()


@pytest.mark.parametrize("memory", [a_memory("m2"), a_memory(status="deleted"), a_memory(namespace="other/bob")])
async def test_unknown_deleted_and_unreadable_memories_get_the_same_not_found(api: Api, memory):
    api.memories.put(memory)
    answer = await api.client(admin="app/*").get("/v1/memories/m1")
    assert answer.status_code == 404
    assert answer.json()["detail"] == "there is no memory 'm1'"


async def test_an_unchanged_memory_returns_304_for_a_matching_etag(api: Api):
    client = api.client(read="*")
    api.memories.put(a_memory())
    tag = (await client.get("/v1/memories/m1")).headers["etag"]
    again = await client.get("/v1/memories/m1", headers={"If-None-Match": f'"0", W/{tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    other_view = await client.get("/v1/memories/m1?detail=short", headers={"If-None-Match": tag})
    assert other_view.status_code == 200
    api.memories.put(a_memory(version=2))
    assert (await client.get("/v1/memories/m1", headers={"If-None-Match": tag})).status_code == 200


async def test_a_list_comes_in_pages_the_most_important_first_and_each_memory_once(api: Api):
    api.memories.put(*(a_memory(f"m{number}", importance=number % 3 / 10) for number in range(7)))
    client, seen, cursor = api.client(read="app/ada"), [], None
    while True:
        params = LISTED | {"limit": "3"} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/v1/memories", params=params)).json()
        seen += [memory["memory_id"] for memory in page["memories"]]
        if (cursor := page.get("next")) is None:
            break
    assert seen == ["m2", "m5", "m1", "m4", "m0", "m3", "m6"]


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ({"kind": ["fact"]}, {"fact", "both"}),
        ({"kind": ["fact", "plan"]}, {"fact", "both", "plan"}),
        ({"tag": ["home"]}, {"plan", "both"}),
        ({"tag": ["work", "none"]}, {"both"}),
        ({"status": ["superseded"]}, {"old"}),
        ({"status": ["deleted"]}, {"gone"}),
        ({"min_importance": "5", "scale": "tenths"}, {"plan", "fact"}),
        ({"min_importance": "501", "scale": "points"}, {"plan"}),
        ({"max_importance": "0.3"}, {"both"}),
        ({"created_from": "2026-03-02T13:00:00+01:00"}, {"fact", "both"}),
        ({"created_to": "2026-03-02T12:00:00Z"}, {"plan"}),
    ],
)
async def test_a_memory_list_applies_its_filters(api: Api, parameters, found):
    api.memories.put(
        a_memory("fact"),
        a_memory("plan", kind="plan", tags=("home",), importance=0.8, created_at=NOON - timedelta(hours=1)),
        a_memory("both", kind="plan", kinds=("fact",), tags=("work", "home"), importance=0.2),
        a_memory("old", status="superseded"),
        a_memory("gone", status="deleted", text=""),
        a_memory("other", namespace="app/bob"),
    )
    answer = await api.client(read="app/ada").get("/v1/memories", params=LISTED | parameters)
    assert {memory["memory_id"] for memory in answer.json()["memories"]} == found


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"min_importance": "2"}, "at most 1"),
        ({"max_importance": "11", "scale": "tenths"}, "at most 10"),
        ({"kinds": "fact"}, "query.kinds"),
        ({"limit": "0"}, "query.limit"),
        ({"cursor": "e30"}, "the cursor belongs to another list"),
        ({"cursor": "ünlesbar"}, "the cursor belongs to another list"),
        ({"created_from": "2026-03-02T13:00:00"}, "query.created_from"),
    ],
)
async def test_an_invalid_list_parameter_is_rejected_with_its_name(api: Api, parameters, said):
    answer = await api.client(read="app/ada").get("/v1/memories", params=LISTED | parameters)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]


@pytest.mark.parametrize(
    "other", [{"order": "created"}, {"kind": "fact"}, {"namespace": "app/bob"}, {"min_importance": "0.1"}]
)
async def test_a_cursor_of_a_different_list_query_is_rejected(api: Api, other: dict[str, str]):
    api.memories.put(a_memory("m1"), a_memory("m2"))
    client = api.client(read="*")
    page = (await client.get("/v1/memories", params=LISTED | {"limit": "1"})).json()
    answer = await client.get("/v1/memories", params=LISTED | other | {"cursor": page["next"]})
    assert answer.status_code == 422
    assert "belongs to another list" in answer.json()["detail"]


async def test_limit_and_detail_may_change_between_pages(api: Api):
    api.memories.put(a_memory("m1"), a_memory("m2"))
    client = api.client(read="*")
    page = (await client.get("/v1/memories", params=LISTED | {"limit": "1"})).json()
    longer = {"cursor": page["next"], "limit": "50", "detail": "full"}
    rest = (await client.get("/v1/memories", params=LISTED | longer)).json()
    assert [each["memory_id"] for each in rest["memories"]] == ["m2"]


async def test_reads_of_single_memories_are_counted_and_listings_are_not(api: Api):
    api.memories.put(a_memory("m1"), a_memory("m2"))
    client = api.client(read="app/*")
    await client.get("/v1/memories/m1")
    await client.get("/v1/memories", params=LISTED)
    body = (await client.get("/v1/memories/m1")).json()
    assert (body["access_count"], body["last_accessed_at"]) == (2, "2026-03-02T12:00:00Z")
    page = (await client.get("/v1/memories", params=LISTED)).json()["memories"]
    assert [memory.get("access_count", 0) for memory in page] == [2, 0]
    assert api.accesses.rows == {}, "a request waits for no writing"
