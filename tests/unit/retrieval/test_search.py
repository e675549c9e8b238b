import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from agents.retrieval.scales import Scale
from agents.retrieval.search import MAX_QUESTION_CHARS, MemorySearch
from agents.retrieval.time_limits import CallResult, TimeLimited
from schemas.errors import Misconfigured, Rejected, Retryable
from schemas.memories.memories import Memory
from schemas.retrieval.searches import Filters, Query
from sinks.vectors.port import Point
from tests.fakes.clock import VirtualLoop
from tests.fakes.embedder import FakeEmbedder, RecordingEmbedder, SeparatingEmbedder
from tests.fakes.memory_index import FakeMemoryIndex
from tests.fakes.sinks import FakeVectors, Fuse

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)

MakeMemory = Callable[..., Memory]


async def searching(
    *memories: Memory, embedder: Any = None, vectors: FakeVectors | None = None, **settings: Any
) -> tuple[MemorySearch, FakeMemoryIndex]:
    embedding, index, remembered = FakeEmbedder(), vectors or FakeVectors(), FakeMemoryIndex(*memories)
    rows = await embedding.embed([memory.text for memory in memories])
    remembered.embedded = {memory.memory_id: row for memory, row in zip(memories, rows, strict=True)}
    index.points |= {memory.memory_id: Point.of(memory, row) for memory, row in zip(memories, rows, strict=True)}
    given: dict[str, Any] = {"clock": lambda: NOON} | settings
    return MemorySearch(embedder or embedding, index, remembered, remembered, **given), remembered


class SlowEmbedder(FakeEmbedder):
    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        await asyncio.Event().wait()
        raise AssertionError


class FailingEmbedder(FakeEmbedder):
    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise self.failure


class SlowVectors(FakeVectors):
    async def search(self, *args: Any, **kwargs: Any) -> Any:
        await asyncio.Event().wait()


async def test_the_question_is_embedded_as_a_question(memory: MakeMemory) -> None:
    embedder = SeparatingEmbedder()
    retrieval, _ = await searching(memory(text="User drinks tea."), embedder=embedder)
    await retrieval.search(Query(namespaces=("n",), text="what does she drink?"))
    assert (embedder.stored, embedder.questions) == ([], ["what does she drink?"])


async def test_the_memory_with_the_words_of_the_query_ranks_first(memory: MakeMemory) -> None:
    dog, tea = memory("User has a dog."), memory("User drinks green tea.")
    retrieval, _ = await searching(dog, tea)
    found = await retrieval.search(Query(namespaces=("n",), text="which green tea?"))
    assert found.hits[0].memory == tea
    assert found.degraded == ()


async def test_only_memories_that_can_reach_the_floor_are_read(memory: MakeMemory) -> None:
    tea, others = memory("User drinks green tea."), [memory(f"User paints a boat in {year}.") for year in range(9)]
    retrieval, remembered = await searching(tea, *others)
    found = await retrieval.search(Query(namespaces=("n",), text="green tea?"))
    assert [hit.memory for hit in found.hits] == [tea]
    assert remembered.read == {tea.memory_id}
    everything = await retrieval.search(Query(namespaces=("n",), text="green tea?", floor=0.0))
    assert everything.hits[0].memory == tea
    assert remembered.read == {each.memory_id for each in (tea, *others)}


async def test_a_query_without_text_lists_filtered_memories_by_importance(memory: MakeMemory) -> None:
    low, high = memory("User has a dog.", importance=0.2), memory("User drinks tea.", importance=0.9)
    plan = memory("User flies to Lisbon.", kind="plan")
    retrieval, _ = await searching(low, high, plan)
    for text in (None, "", "  "):
        found = await retrieval.search(Query(namespaces=("n",), text=text, filters=Filters(kinds=("fact",))))
        assert [hit.memory for hit in found.hits] == [high, low]
        assert [hit.score for hit in found.hits] == [0.9, 0.2]


async def test_an_unrelated_query_finds_nothing(memory: MakeMemory) -> None:
    retrieval, _ = await searching(memory("User has a dog."), memory("User drinks green tea."))
    found = await retrieval.search(Query(namespaces=("n",), text="quantum chromodynamics"))
    assert found.hits == ()


async def test_score_parts_are_returned_only_on_request(memory: MakeMemory) -> None:
    retrieval, _ = await searching(memory("User drinks green tea."))
    query = Query(namespaces=("n",), text="green tea")
    (hit,) = (await retrieval.search(query)).hits
    assert hit.parts is None
    (hit,) = (await retrieval.search(Query(namespaces=("n",), text="green tea", explain=True))).hits
    parts = hit.parts
    assert parts is not None
    assert hit.score == parts.relevance == parts.from_relevance
    assert parts.cosine is not None
    assert parts.lexical == 1.0


async def test_a_secret_at_the_truncation_point_of_a_long_query_is_not_sent_partially(
    memory: MakeMemory,
) -> None:
    embedder = RecordingEmbedder()
    retrieval, _ = await searching(memory("User drinks green tea."), embedder=embedder)
    password = "EXAMPLE-pw1"
    for before in (5, 20, 25, 30):
        text = "tea " * ((MAX_QUESTION_CHARS - before) // 4) + f"the password is {password}, and more of it"
        await retrieval.search(Query(namespaces=("n",), text=text))
    assert [len(sent) for sent in embedder.embedded_texts] == [MAX_QUESTION_CHARS] * 4
    assert "the password is [PASS" in embedder.embedded_texts[2]
    assert not any(password[:3] in sent for sent in embedder.embedded_texts)


@pytest.mark.parametrize("failure", [Retryable("busy"), Misconfigured("key"), Rejected("unembeddable", "empty")])
async def test_lexical_search_still_returns_results_if_the_embedder_fails(
    memory: MakeMemory, failure: Exception
) -> None:
    tea = memory("User drinks green tea.")
    retrieval, _ = await searching(tea, embedder=FailingEmbedder(failure))
    found = await retrieval.search(Query(namespaces=("n",), text="green tea"))
    assert [hit.memory for hit in found.hits] == [tea]
    assert found.degraded == ("embedder_failed",)


async def test_a_slow_embedder_is_abandoned_after_the_timeout(memory: MakeMemory) -> None:
    tea = memory("User drinks green tea.")
    retrieval, _ = await searching(tea, embedder=SlowEmbedder(), timeout_s=0.01)
    found = await retrieval.search(Query(namespaces=("n",), text="green tea"))
    assert [hit.memory for hit in found.hits] == [tea]
    assert found.degraded == ("embedder_slow",)


async def test_lexical_search_still_returns_results_without_the_vector_index(memory: MakeMemory) -> None:
    tea = memory("User drinks green tea.")
    for vectors, reason in ((FakeVectors(fuse=Fuse(1)), "vectors_failed"), (SlowVectors(), "vectors_slow")):
        retrieval, _ = await searching(tea, vectors=vectors, timeout_s=0.05)
        found = await retrieval.search(Query(namespaces=("n",), text="green tea"))
        assert [hit.memory for hit in found.hits] == [tea]
        assert found.degraded == (reason,)


async def test_a_search_without_postgres_raises_retryable(memory: MakeMemory) -> None:
    retrieval, remembered = await searching(memory("User drinks green tea."))
    remembered.failure = Retryable("PostgreSQL failed")
    for text in ("green tea", None):
        with pytest.raises(Retryable):
            await retrieval.search(Query(namespaces=("n",), text=text))


async def test_a_stale_vector_index_does_not_return_deleted_superseded_moved_or_expired_memories(
    memory: MakeMemory,
) -> None:
    tea = memory("User drinks green tea.")
    changes: tuple[dict[str, Any], ...] = (
        {"status": "deleted"},
        {"status": "superseded"},
        {"namespace": "other"},
        {"expires_at": NOON - timedelta(seconds=1)},
    )
    for change in changes:
        retrieval, remembered = await searching(tea)
        remembered.known = {tea.memory_id: replace(tea, **change)}
        found = await retrieval.search(Query(namespaces=("n",), text="green tea"))
        assert found.hits == (), change


async def test_a_search_for_a_moment_returns_memories_that_expire_later_only(memory: MakeMemory) -> None:
    # Given a live memory with a known expiry, and one that has expired
    tea = memory("User drinks green tea.", expires_at=NOON + timedelta(days=2))
    mate = memory(
        "User drinks green mate.",
        status="expired",
        valid_until=NOON - timedelta(days=2),
        expires_at=NOON - timedelta(days=2),
    )
    retrieval, _ = await searching(tea, mate)

    async def found(days: int) -> set[str]:
        filters = Filters(valid_at=NOON + timedelta(days=days))
        hits = (await retrieval.search(Query(namespaces=("n",), text="green tea", filters=filters))).hits
        return {hit.memory.memory_id for hit in hits}

    # When searches ask for moments before and after both, then only memories that have not expired by then are found
    assert await found(-3) == {tea.memory_id, mate.memory_id}
    assert await found(-1) == await found(1) == {tea.memory_id}
    assert await found(2) == set()


async def test_only_the_requested_namespaces_are_searched(memory: MakeMemory) -> None:
    mine, ours = memory("User drinks green tea."), memory("We drink green tea.", namespace="m")
    retrieval, _ = await searching(mine, ours, memory("They drink green tea.", namespace="other"))
    found = await retrieval.search(Query(namespaces=("n", "m"), text="green tea"))
    assert {hit.memory.memory_id for hit in found.hits} == {mine.memory_id, ours.memory_id}


async def test_without_the_vector_index_lexical_hits_are_scored_by_cosine_too(memory: MakeMemory) -> None:
    near, far = memory("Green tea."), memory("The green car of a neighbour needs new tyres.")
    retrieval, _ = await searching(near, far, vectors=FakeVectors(fuse=Fuse(1)))
    found = await retrieval.search(Query(namespaces=("n",), text="green tea", explain=True, floor=0.0))
    cosines = {hit.memory.text: hit.parts.cosine for hit in found.hits if hit.parts is not None}
    assert cosines[near.text] == pytest.approx(1.0, abs=1e-5)


async def test_without_the_vector_index_a_query_without_common_words_uses_the_vectors_in_postgres(
    memory: MakeMemory,
) -> None:
    tea = memory("Green tea.")
    retrieval, remembered = await searching(tea, vectors=FakeVectors(fuse=Fuse(1)))
    remembered.known[tea.memory_id] = replace(tea, text="Matcha.")
    found = await retrieval.search(Query(namespaces=("n",), text="green tea"))
    assert [hit.memory.text for hit in found.hits] == ["Matcha."]
    assert found.degraded == ("vectors_failed",)


async def test_a_timed_out_dependency_is_skipped_during_its_cooldown() -> None:
    calls = 0

    async def slow() -> int:
        nonlocal calls
        calls += 1
        await asyncio.sleep(10 if calls == 1 else 0)
        return calls

    def patiently() -> list[CallResult[int]]:
        async def run() -> list[CallResult[int]]:
            part = TimeLimited("vectors_slow", "vectors_failed", timeout_s=2.0, cooldown_s=5.0)
            answers = [await part.call(slow), await part.call(slow)]
            await asyncio.sleep(5.1)
            return [*answers, await part.call(slow)]

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            return runner.run(run())

    answers = await asyncio.get_running_loop().run_in_executor(None, patiently)
    assert answers == [CallResult(degraded=("vectors_slow",)), CallResult(degraded=("vectors_slow",)), CallResult(2)]


async def test_a_failed_dependency_is_called_again_immediately() -> None:
    part, failures = TimeLimited("embedder_slow", "embedder_failed"), [Retryable("busy")]

    async def ask() -> str:
        if failures:
            raise failures.pop()
        return "done"

    assert await part.call(ask) == CallResult(degraded=("embedder_failed",))
    assert await part.call(ask) == CallResult("done")


async def test_a_query_in_a_script_the_model_does_not_read_is_not_embedded(memory: MakeMemory) -> None:
    nuts = memory("花生 过敏")
    retrieval, _ = await searching(nuts, embedder=FailingEmbedder(Retryable("asked")), scale=Scale(latin_only=True))
    found = await retrieval.search(Query(namespaces=("n",), text="花生", explain=True))
    assert [hit.memory for hit in found.hits] == [nuts]
    assert found.degraded == ()


async def test_secrets_in_a_query_are_not_sent_to_the_embedder(memory: MakeMemory) -> None:
    embedder = RecordingEmbedder()
    retrieval, _ = await searching(memory(), embedder=embedder)
    await retrieval.search(Query(namespaces=("n",), text="my key is sk-ant-api03-" + "aB3dE5gH7jK9" * 8))
    assert embedder.embedded_texts and not any("aB3dE5gH7jK9" in text for text in embedder.embedded_texts)
