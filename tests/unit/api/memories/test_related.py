"""Related memories: links in both directions, and similar memories."""

import numpy as np

from schemas.extraction.links import Link
from sinks.vectors.port import Point
from tests.api import Api, a_memory
from tests.fakes.sinks import Fuse


def near(api: Api, memory, *vector: float) -> None:
    api.memories.put(memory)
    api.memories.vectors[memory.memory_id] = np.array(vector, np.float32)
    api.vectors.points[memory.memory_id] = Point.of(memory, np.array(vector, np.float32))


async def test_near_memories_are_ordered_by_similarity_without_the_memory_itself(api: Api):
    near(api, a_memory("m1"), 1, 0)
    near(api, a_memory("m2"), 1, 1)
    near(api, a_memory("m3"), 1, 0.1)
    near(api, a_memory("far"), 0, 1)
    near(api, a_memory("other", namespace="app/bob"), 1, 0)
    answer = (await api.client(read="app/ada").get("/v1/memories/m1/related")).json()
    assert [each["memory"]["memory_id"] for each in answer["near"]] == ["m3", "m2"]
    assert answer["near"][0]["score"] > 0.99
    one = (await api.client(read="*").get("/v1/memories/m1/related", params={"limit": 1, "min_score": 0.9})).json()
    assert [each["memory"]["memory_id"] for each in one["near"]] == ["m3"]


async def test_links_are_returned_in_both_directions(api: Api):
    api.memories.put(
        a_memory("m1", supersedes="old", links=(Link(type="relates", memory_id="m2"),)),
        a_memory("old", status="superseded", superseded_by="m1"),
        a_memory("m2"),
        a_memory("m3", links=(Link(type="refines", memory_id="m1"),)),
        a_memory("gone", status="deleted"),
    )
    answer = (await api.client(read="*").get("/v1/memories/m1/related")).json()
    relations = {each["memory"]["memory_id"]: each["relation"] for each in answer["linked"]}
    assert relations == {"old": "supersedes", "m2": "relates", "m3": "refined_by"}
    assert answer["near"] == []


async def test_at_most_one_hundred_linked_memories_are_returned(api: Api):
    links = (Link(type="refines", memory_id="m1"),)
    api.memories.put(a_memory("m1"), *(a_memory(f"n{number:03}", links=links) for number in range(102)))
    answer = (await api.client(read="*").get("/v1/memories/m1/related")).json()
    assert [each["memory"]["memory_id"] for each in answer["linked"]] == [f"n{number:03}" for number in range(100)]


async def test_related_memories_are_only_the_linked_ones_while_the_vector_index_is_down(api: Api):
    near(api, a_memory("m1", links=(Link(type="relates", memory_id="m2"),)), 1, 0)
    near(api, a_memory("m2"), 1, 0)
    api.vectors.fuse = Fuse(at=1)
    answer = await api.client(read="*").get("/v1/memories/m1/related")
    assert answer.status_code == 200
    assert answer.json()["degraded"]
    assert len(answer.json()["linked"]) == 1
