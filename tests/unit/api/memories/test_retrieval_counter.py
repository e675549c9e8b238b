"""Retrievals and their hits are counted per namespace, for HTTP requests and tools."""

from datetime import date

import pytest

from agents.api.memories import retrieval_counter
from agents.api.memories.retrieval_counter import RetrievalCounter
from schemas.errors import Retryable
from schemas.retrieval.searches import SaidHit
from tests.api import NOON, Api, a_memory
from tests.fakes.accesses import FakeRetrievalCounts

TODAY = date(2026, 3, 2)


async def counted(api: Api) -> dict[tuple[str, str], tuple[int, int]]:
    await api.retrieval_counts.flush()
    assert {day for _, day, _ in api.counted.rows} <= {TODAY}
    return {(namespace, operation): counts for (namespace, _, operation), counts in api.counted.rows.items()}


async def test_context_requests_are_counted_per_namespace_with_whether_they_found_memories(api: Api):
    client = api.client(read="app/*")
    api.searched.memories = [a_memory(text="User likes tea.")]
    both = {"text": "tea", "namespaces": ["app/ada", "app/bob"]}
    assert (await client.post("/v1/context", json=both)).status_code == 200
    api.searched.memories, api.searched.said = [], [SaidHit(score=0.9, passage=api.said.say("Tea.", at=NOON))]
    await client.post("/v1/context", json={"text": "tea", "namespaces": ["app/ada"]})
    assert await counted(api) == {("app/ada", "context"): (2, 1), ("app/bob", "context"): (1, 1)}


async def test_searches_by_request_and_by_tool_are_counted_and_refused_ones_are_not(api: Api):
    client = api.client(read="app/ada")
    await client.get("/v1/search", params={"namespace": "app/ada", "q": "tea"})
    api.remembered.known["m1"] = a_memory(text="User likes tea.")
    await client.get("/v1/search", params={"namespace": "app/ada"})
    used = await client.post("/v1/tools/search_memories?namespace=app/ada", json={"input": {"query": "tea"}})
    assert "User likes tea." in used.text
    assert (await client.get("/v1/search", params={"namespace": "app/bob"})).status_code == 403
    assert await counted(api) == {("app/ada", "search"): (3, 2)}


async def test_retrieval_counts_of_a_failed_flush_are_kept_for_the_next_one_up_to_a_limit(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(retrieval_counter, "MAX_COUNTS", 1)
    store = FakeRetrievalCounts()
    counter = RetrievalCounter(store, lambda: NOON)
    store.down = True
    counter.note("search", ["app/ada", "app/bob"], True)
    with pytest.raises(Retryable):
        await counter.flush()
    counter.note("search", ["app/ada"], False)
    store.down = False
    await counter.flush()
    await counter.flush()
    assert store.rows == {("app/ada", TODAY, "search"): (2, 1)}
