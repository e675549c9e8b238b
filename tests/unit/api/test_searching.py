"""Searching over HTTP."""

import pytest

from tests.api import NOON, Api, a_memory
from tests.fakes.sinks import Fuse

SEARCH = "/v1/search"


@pytest.fixture
def api(api: Api) -> Api:
    """Ada is remembered with three memories, Bob with one."""
    memories = (
        a_memory("tea", text="User drinks green tea.", importance=0.4, tags=("habit",), context="Said at lunch."),
        a_memory("dog", text="User has a dog.", importance=0.9, language="de"),
        a_memory("job", text="User was a green grocer.", status="superseded", valid_from=NOON, valid_until=NOON),
        a_memory("bob", text="User drinks green tea.", namespace="app/bob"),
    )
    api.remembered.known = {memory.memory_id: memory for memory in memories}
    return api


def ids(answer) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [hit["memory"]["memory_id"] for hit in answer.json()["hits"]]


async def test_a_question_finds_what_has_to_do_with_it(api: Api):
    client = api.client(read="app/*")
    asked = {"namespaces": ["app/ada"], "text": "green tea?"}
    posted = await client.post(SEARCH, json=asked)
    assert ids(posted) == ["tea"]
    (hit,) = posted.json()["hits"]
    assert hit["memory"]["importance_tenths"] == 4.0
    assert "context" not in hit["memory"] and "parts" not in hit
    simple = await client.get(SEARCH, params={"namespace": "app/ada", "q": "green tea?"})
    assert simple.json() == posted.json()


async def test_without_a_question_the_most_important_come_first(api: Api):
    client = api.client(read="app/*")
    assert ids(await client.post(SEARCH, json={"namespaces": ["app/ada"]})) == ["dog", "tea"]
    assert ids(await client.get(SEARCH, params={"namespace": "app/ada", "limit": 1})) == ["dog"]


async def test_a_score_is_explained_to_who_asks(api: Api):
    asked = {"namespaces": ["app/ada"], "text": "tea", "explain": True, "detail": "full"}
    (hit,) = (await api.client(read="*").post(SEARCH, json=asked)).json()["hits"]
    assert hit["memory"]["context"] == "Said at lunch."
    parts = hit["parts"]
    added = (parts.get(f"from_{part}", 0.0) for part in ("relevance", "importance", "recency", "reinforcement"))
    assert hit["score"] == pytest.approx(sum(added))


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ({"tag": "habit"}, {"tea"}),
        ({"tag": ["habit", "home"]}, {"tea"}),
        ({"language": "de"}, {"dog"}),
        ({"min_importance": 9, "scale": "tenths"}, {"dog"}),
        ({"min_importance": 5_000, "scale": "points"}, {"dog"}),
        ({"min_confidence": 0.95}, set()),
        ({"kind": "plan"}, set()),
        ({"valid_at": "2026-03-02T11:00:00Z"}, {"tea", "dog"}),
    ],
)
async def test_filters_of_an_address(api: Api, params, found):
    client = api.client(read="app/*")
    assert set(ids(await client.get(SEARCH, params={"namespace": "app/ada"} | params))) == found


async def test_every_namespace_that_is_asked_must_be_readable(api: Api):
    client = api.client(read="app/ada")
    for asked in (["app/bob"], ["app/ada", "app/bob"]):
        assert (await client.post(SEARCH, json={"namespaces": asked})).status_code == 403
        assert (await client.get(SEARCH, params={"namespace": asked})).status_code == 403
    both = api.client(read="app/*")
    assert set(ids(await both.get(SEARCH, params={"namespace": ["app/ada", "app/bob"], "q": "tea"}))) == {"tea", "bob"}


async def test_what_a_search_finds_counts_as_read(api: Api):
    client = api.client(read="app/*")
    await client.get(SEARCH, params={"namespace": "app/ada", "q": "tea"})
    read = await api.ports.accesses.of(["tea", "dog"])
    assert {memory_id: access.access_count for memory_id, access in read.items()} == {"tea": 1}


async def test_without_the_vector_index_the_answer_says_so(api: Api):
    api.vectors.fuse = Fuse(1)
    answer = await api.client(read="*").post(SEARCH, json={"namespaces": ["app/ada"], "text": "green tea"})
    assert ids(answer) == ["tea"]
    assert answer.json()["degraded"] == ["vectors_failed"]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"namespaces": []},
        {"namespaces": ["n"], "limit": 1_000},
        {"namespaces": ["n"], "filter": {}},
        {"namespaces": ["n"], "filters": {"kinds": {"$ne": ""}}},
        {"namespaces": ["n"], "text": 1},
    ],
)
async def test_what_is_no_question_is_refused(api: Api, asked):
    assert (await api.client(read="*").post(SEARCH, json=asked)).status_code == 422


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"q": "tea"},
        {"namespace": "n", "min_importance": 2},
        {"namespace": "n", "limit": 0},
        {"namespace": "n", "x": 1},
    ],
)
async def test_an_address_that_is_no_question_is_refused(api: Api, params):
    assert (await api.client(read="*").get(SEARCH, params=params)).status_code == 422
