"""Searching over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from schemas.extraction.candidates import Source
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


async def test_a_query_finds_matching_memories_by_post_and_get(api: Api):
    client = api.client(read="app/*")
    body = {"namespaces": ["app/ada"], "text": "green tea?"}
    posted = await client.post(SEARCH, json=body)
    assert ids(posted) == ["tea"]
    (hit,) = posted.json()["hits"]
    assert hit["memory"]["importance_tenths"] == 4.0
    assert "context" not in hit["memory"] and "parts" not in hit
    simple = await client.get(SEARCH, params={"namespace": "app/ada", "q": "green tea?"})
    assert simple.json() == posted.json()


async def test_a_search_without_a_query_returns_the_most_important_memories_first(api: Api):
    client = api.client(read="app/*")
    assert ids(await client.post(SEARCH, json={"namespaces": ["app/ada"]})) == ["dog", "tea"]
    assert ids(await client.get(SEARCH, params={"namespace": "app/ada", "limit": 1})) == ["dog"]


async def test_an_explained_hit_has_score_parts_that_sum_to_its_score(api: Api):
    body = {"namespaces": ["app/ada"], "text": "tea", "explain": True, "detail": "full"}
    (hit,) = (await api.client(read="*").post(SEARCH, json=body)).json()["hits"]
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
async def test_query_parameters_filter_search_results(api: Api, params, found):
    client = api.client(read="app/*")
    assert set(ids(await client.get(SEARCH, params={"namespace": "app/ada"} | params))) == found


async def test_a_search_needs_the_right_to_read_every_requested_namespace(api: Api):
    client = api.client(read="app/ada")
    for namespaces in (["app/bob"], ["app/ada", "app/bob"]):
        assert (await client.post(SEARCH, json={"namespaces": namespaces})).status_code == 403
        assert (await client.get(SEARCH, params={"namespace": namespaces})).status_code == 403
    both = api.client(read="app/*")
    assert set(ids(await both.get(SEARCH, params={"namespace": ["app/ada", "app/bob"], "q": "tea"}))) == {"tea", "bob"}


async def test_search_hits_count_as_reads(api: Api):
    client = api.client(read="app/*")
    await client.get(SEARCH, params={"namespace": "app/ada", "q": "tea"})
    read = await api.ports.accesses.of(["tea", "dog"])
    assert {memory_id: access.access_count for memory_id, access in read.items()} == {"tea": 1}


async def test_a_search_without_the_vector_index_reports_degraded_results(api: Api):
    api.vectors.fuse = Fuse(1)
    answer = await api.client(read="*").post(SEARCH, json={"namespaces": ["app/ada"], "text": "green tea"})
    assert ids(answer) == ["tea"]
    assert answer.json()["degraded"] == ["vectors_failed"]


async def test_a_query_finds_memories_and_passages(api: Api):
    passage = api.said.say("Green tea, as always.", at=NOON)
    answer = await api.client(read="app/*").post(SEARCH, json={"namespaces": ["app/ada"], "text": "green tea"})
    (memory,) = (hit for hit in answer.json()["hits"] if hit["tier"] == "memory")
    (said,) = (hit for hit in answer.json()["hits"] if hit["tier"] == "said")
    assert memory["memory"]["memory_id"] == "tea" and "passage" not in memory
    assert said["passage"] == {
        "passage_id": passage.passage_id,
        "namespace": "app/ada",
        "conversation_id": "talk",
        "message_id": "talk-1",
        "role": "user",
        "speaker": "ada",
        "said_at": "2026-03-02T12:00:00Z",
        "text": "Green tea, as always.",
        "ordinal": 1,
    }
    assert "memory" not in said and "parts" not in said


async def test_a_passage_hit_includes_its_neighbouring_messages(api: Api):
    question = api.said.say("And to drink?", at=NOON, speaker="bob")
    reply = api.said.say("Green tea.", at=NOON)
    api.said.neighbours[reply.passage_id] = (question,)
    asking = {"namespaces": ["app/ada"], "text": "green tea", "in": "said"}
    answer = await api.client(read="app/*").post(SEARCH, json=asking)
    (hit,) = answer.json()["hits"]
    assert (hit["passage"]["text"], [each["text"] for each in hit["neighbours"]]) == ("Green tea.", ["And to drink?"])
    assert hit["message_ids"] == ["talk-1", "talk-2"]


@pytest.mark.parametrize(("tier", "found"), [("memories", ["memory"]), ("said", ["said"])])
async def test_a_search_can_be_restricted_to_one_tier(api: Api, tier: str, found: list[str]):
    api.said.say("Green tea, as always.", at=NOON)
    client = api.client(read="app/*")
    posted = await client.post(SEARCH, json={"namespaces": ["app/ada"], "text": "green tea", "in": tier})
    assert [hit["tier"] for hit in posted.json()["hits"]] == found
    simple = await client.get(SEARCH, params={"namespace": "app/ada", "q": "green tea", "in": tier})
    assert simple.json() == posted.json()


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"speakers": ["bob"]}, "talk-2"),
        ({"conversations": ["walk"]}, "talk-3"),
        ({"said_from": "2026-03-02T12:30:00Z"}, "talk-3"),
        ({"said_to": "2026-03-02T12:00:00Z"}, "talk-4"),
    ],
)
async def test_passages_are_filtered_by_speaker_conversation_and_time(api: Api, filters, found: str):
    api.said.say("Tea for me.", at=NOON)
    api.said.say("Tea for me too.", at=NOON, speaker="bob")
    api.said.say("Tea again.", at=NOON + timedelta(hours=1), conversation_id="walk")
    api.said.say("First tea.", at=NOON - timedelta(hours=1))
    client = api.client(read="app/*")
    body = {"namespaces": ["app/ada"], "text": "tea", "passage_filters": filters}
    posted = (await client.post(SEARCH, json=body)).json()
    assert [hit["passage"]["message_id"] for hit in posted["hits"]] == [found], "and no memory, which has none of these"
    params = {name.removesuffix("s"): value for name, value in filters.items()}
    simple = (await client.get(SEARCH, params={"namespace": "app/ada", "q": "tea"} | params)).json()
    assert simple == posted


async def test_happened_filters_apply_to_passages_too(api: Api):
    api.said.say("Tea on Monday.", at=NOON)
    api.said.say("Tea on Tuesday.", at=NOON + timedelta(days=1))
    body = {"namespaces": ["app/ada"], "text": "tea", "filters": {"happened_from": "2026-03-03T00:00:00Z"}}
    hits = (await api.client(read="app/*").post(SEARCH, json=body)).json()["hits"]
    assert [hit["passage"]["text"] for hit in hits] == ["Tea on Tuesday."]


@pytest.mark.parametrize(
    ("asked_at", "day"),
    [({"asked_at": "2026-02-11T08:00:00Z"}, datetime(2026, 2, 10, tzinfo=UTC)), ({}, datetime(2026, 3, 1, tzinfo=UTC))],
)
async def test_relative_times_of_a_question_refer_to_when_it_was_asked(api: Api, asked_at, day: datetime):
    client = api.client(read="app/*")
    asked = {"text": "What tea did we drink yesterday?"} | asked_at
    await client.post(SEARCH, json={"namespaces": ["app/ada"]} | asked)
    await client.get(SEARCH, params={"namespace": "app/ada", "q": asked["text"]} | asked_at)
    assert [[start for start, _ in spans] for spans in api.said.spans] == [[day]] * 2


async def test_a_passage_in_a_shared_namespace_needs_the_right_to_read_one_of_its_owners(api: Api):
    passage = api.said.say("Green tea, as always.", at=NOON, namespace="app", owners=("app/ada", "app/bob"))
    body = {"namespaces": ["app"], "text": "green tea", "in": "said"}
    for pattern, hits, status in (("app", 0, 404), ("app*", 1, 200)):
        client = api.client(read=pattern)
        assert len((await client.post(SEARCH, json=body)).json()["hits"]) == hits
        assert (await client.get(f"/v1/passages/{passage.passage_id}")).status_code == status


async def test_passages_that_a_key_may_not_read_take_no_places_of_others(api: Api):
    for _ in range(10):
        api.said.say("Green tea, as always.", at=NOON, namespace="app", owners=("app/bob",))
    api.said.say("Green.", at=NOON, namespace="app", owners=("app/ada",))
    asked = {"namespaces": ["app"], "text": "green tea", "in": "said"}
    hits = (await api.client(read="app", write="app/ada").post(SEARCH, json=asked)).json()["hits"]
    assert [hit["passage"]["text"] for hit in hits] == ["Green."]


async def test_a_memory_is_found_if_the_key_may_not_read_its_source_passage(api: Api):
    passage = api.said.say(
        "Green tea with a friend, as always, I like it.", at=NOON, namespace="app", owners=("app/bob",)
    )
    source = Source(conversation_id=passage.conversation_id, message_id=passage.message_id)
    api.remembered.known = {"m": a_memory("m", namespace="app", text="User likes tea.", sources=(source,))}
    asked = {"namespaces": ["app"], "text": "green tea with a friend"}
    (theirs,) = (await api.client(read="app*").post(SEARCH, json=asked)).json()["hits"]
    assert theirs["tier"] == "said", "the passage is far more relevant than the memory"
    (mine,) = (await api.client(read="app").post(SEARCH, json=asked)).json()["hits"]
    assert mine["memory"]["memory_id"] == "m"


async def test_memories_and_their_source_passages_refer_to_each_other(api: Api):
    passage = api.said.say("Green tea, as always.", at=NOON)
    source = Source(conversation_id="talk", message_id="talk-1")
    memory = replace(api.remembered.known["tea"], sources=(source,))
    api.remembered.known["tea"] = memory
    api.memories.put(memory)
    client = api.client(read="app/ada")
    body = {"namespaces": ["app/ada"], "text": "green tea", "related": True}
    (both,) = (await client.post(SEARCH, json=body)).json()["hits"]
    assert both["sources"] == [{"conversation_id": "talk", "message_id": "talk-1"}], "it stands for the passage as well"
    (said,) = (await client.post(SEARCH, json=body | {"in": "said"})).json()["hits"]
    assert said["memory_ids"] == ["tea"]
    related = (await client.get("/v1/memories/tea/related")).json()
    assert [each["passage_id"] for each in related["passages"]] == [passage.passage_id]
    shown = (await client.get(f"/v1/passages/{passage.passage_id}")).json()
    assert (shown["passage"]["text"], shown["memories"][0]["memory_id"]) == ("Green tea, as always.", "tea")


async def test_related_passages_are_returned_only_to_keys_that_may_read_their_owners(api: Api):
    api.said.say("Green tea, as always.", at=NOON, namespace="app", owners=("app/ada",))
    source = Source(conversation_id="talk", message_id="talk-1")
    api.memories.put(a_memory("tea", namespace="app", sources=(source,)))
    assert "passages" in (await api.client(read="app*").get("/v1/memories/tea/related")).json()
    related = await api.client(read="app").get("/v1/memories/tea/related")
    assert related.status_code == 200 and "passages" not in related.json()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"namespaces": []},
        {"namespaces": ["n"], "limit": 1_000},
        {"namespaces": ["n"], "filter": {}},
        {"namespaces": ["n"], "filters": {"kinds": {"$ne": ""}}},
        {"namespaces": ["n"], "text": 1},
        {"namespaces": ["n"], "text": "x", "in": "everything"},
        {"namespaces": ["n"], "text": "x", "passage_filters": {"speaker": "ada"}},
        {"namespaces": ["n"], "text": "x", "passage_filters": {"said_from": "yesterday"}},
        {"namespaces": ["n"], "in": "said"},
        {"namespaces": ["n"], "passage_filters": {"speakers": ["ada"]}},
        {"namespaces": ["n"], "text": "x", "in": "said", "filters": {"kinds": ["fact"]}},
        {"namespaces": ["n"], "text": "x", "in": "memories", "passage_filters": {"speakers": ["ada"]}},
    ],
)
async def test_an_invalid_search_body_is_rejected(api: Api, body):
    assert (await api.client(read="*").post(SEARCH, json=body)).status_code == 422


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"q": "tea"},
        {"namespace": "n", "min_importance": 2},
        {"namespace": "n", "limit": 0},
        {"namespace": "n", "x": 1},
        {"namespace": "n", "in": "said"},
        {"namespace": "n", "q": "x", "in": "said", "kind": "fact"},
        {"namespace": "n", "q": "x", "in": "memories", "speaker": "ada"},
        {"namespace": "n", "q": "x", "asked_at": "2026-03-02T12:00:00"},
    ],
)
async def test_invalid_search_query_parameters_are_rejected(api: Api, params):
    assert (await api.client(read="*").get(SEARCH, params=params)).status_code == 422
