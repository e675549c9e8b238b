"""Daily numbers, costs and maps of a namespace over HTTP."""

from datetime import date, timedelta

import numpy as np
import pytest

from agents.api.memories.memory_map import project
from sinks.memories.insights import NamespaceDay
from tests.api import NOON, Api, a_memory

ADA = {"namespace": "app/ada"}


@pytest.fixture
def mapped(api: Api) -> Api:
    """Two pairs of similar memories, and one that is not embedded."""
    api.memories.put(*(a_memory(f"m{n}", importance=n / 10) for n in range(5)), a_memory("b", namespace="app/bob"))
    vectors = {"m0": (1, 0, 0), "m1": (0.9, 0.1, 0), "m2": (0, 1, 0), "m3": (0, 0.9, 0.1), "b": (0, 0, 1)}
    api.memories.vectors |= {name: np.array(vector, dtype=np.float32) for name, vector in vectors.items()}
    return api


async def test_statistics_history_covers_the_requested_days_up_to_today(api: Api):
    today = NamespaceDay(day=date(2026, 3, 2), changes={"created": 2}, calls=1, tokens=300, cost_usd=0.01)
    api.insights.known_days = [NamespaceDay(day=date(2026, 2, 1)), today]
    answer = await api.client(read="app/*").get("/v1/statistics/history", params=ADA | {"days": 7})
    assert [day["day"] for day in answer.json()["days"]] == ["2026-03-02"]
    assert answer.json()["days"][0]["changes"] == {"created": 2}
    ((_, since, until),) = api.insights.periods
    assert (since.isoformat(), until) == ("2026-02-24T00:00:00+00:00", NOON + timedelta(seconds=1))


@pytest.mark.parametrize("path", ["statistics/history", "statistics/costs", "map"])
async def test_insights_of_a_namespace_need_the_right_to_read_it(mapped: Api, path: str):
    assert (await mapped.client(read="other/*").get(f"/v1/{path}", params=ADA)).status_code == 403


async def test_the_costliest_memories_are_listed_with_their_cost_for_one_namespace(api: Api):
    api.memories.put(a_memory("cheap"), a_memory("expensive"), a_memory("b", namespace="app/bob"))
    answer = await api.client(read="app/*").get("/v1/statistics/costs", params=ADA)
    found = [(each["memory"]["memory_id"], each["cost"]["cost_usd"]) for each in answer.json()["memories"]]
    assert found == [("expensive", 0.09), ("cheap", 0.05)]


async def test_the_map_places_similar_memories_close_together_and_is_deterministic(mapped: Api):
    client = mapped.client(read="app/*")
    body = (await client.get("/v1/map", params=ADA)).json()
    assert body == (await client.get("/v1/map", params=ADA)).json()
    places = {each["memory_id"]: np.array((each["x"], each["y"])) for each in body["memories"]}
    assert (set(places), body["live"]) == ({"m0", "m1", "m2", "m3"}, 5)
    assert all(np.abs(place).max() <= 1 for place in places.values())
    near, far = np.linalg.norm(places["m0"] - places["m1"]), np.linalg.norm(places["m0"] - places["m2"])
    assert near < far / 3
    assert body["explained"] > 0.9


async def test_the_map_has_the_most_important_memories_and_is_empty_below_three(mapped: Api):
    client = mapped.client(read="app/*")
    body = (await client.get("/v1/map", params=ADA | {"limit": 4})).json()
    assert {each["memory_id"] for each in body["memories"]} == {"m1", "m2", "m3"}
    assert (await client.get("/v1/map", params=ADA | {"limit": 2})).json()["memories"] == []
    assert (await client.get("/v1/map", params=ADA | {"limit": 1_001})).status_code == 422


def test_equal_vectors_are_projected_to_the_same_point():
    places, explained = project(np.ones((4, 3)))
    assert (places.tolist(), explained) == ([[0.0, 0.0]] * 4, 0.0)


async def test_namespaces_are_listed_by_size(api: Api):
    api.memories.put(a_memory("a"), *(a_memory(f"b{n}", namespace="app/bob") for n in range(3)))
    client = api.client(read="app/*")
    answer = (await client.get("/v1/namespaces", params={"order": "size"})).json()
    assert answer == {"namespaces": [{"namespace": "app/bob", "live": 3}, {"namespace": "app/ada", "live": 1}]}
