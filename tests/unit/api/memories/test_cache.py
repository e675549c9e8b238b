"""The memory cache: invalidation by events, and bypass."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest
from msgspec.structs import replace

from agents.api.memories.cache import CachedMemories, size
from deploy.metrics.api_meters import ApiMeters
from schemas.errors import Retryable
from schemas.extraction.candidates import Source
from schemas.extraction.links import Link
from schemas.memories.memories import Memory
from sinks.memories.listing import Listing, Place
from tests.api import a_memory
from tests.fakes.memories import FakeMemories

LISTED = Listing(namespace="app/ada")


class Slow(FakeMemories):
    """Counts what it is asked, and answers once it is let: with what it held when it was asked."""

    def __init__(self, *memories: Memory) -> None:
        super().__init__(*memories)
        self.calls: list[Collection[str]] = []
        self.reached = asyncio.Event()
        self.let = asyncio.Event()
        self.let.set()

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        self.calls.append(memory_ids)
        found = await super().by_ids(memory_ids)
        self.reached.set()
        await self.let.wait()
        return found

    async def list_page(self, listing: Listing) -> tuple[Memory, ...]:
        self.calls.append(())
        return await super().list_page(listing)


class Bench:
    """A cache over a source. `hits` counts the reads from the cache."""

    def __init__(self, **options: float) -> None:
        self.hits = 0
        self.now = 100.0
        self.caught_up_to = 100.0
        self.source = Slow(a_memory("m1"), a_memory("m2"), a_memory("b1", namespace="app/bob"))
        self.cached = CachedMemories(
            self.source, lambda: self.now, lambda: self.caught_up_to, on_read=self._count, **options
        )  # type: ignore[arg-type]

    def _count(self, is_cached: bool, _namespace: str) -> None:
        self.hits += is_cached


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_a_memory_and_a_list_page_are_read_from_the_source_once(bench: Bench):
    for _ in range(3):
        assert await bench.cached.get("m1") == a_memory("m1")
        assert len(await bench.cached.list_page(LISTED)) == 2
    assert len(bench.source.calls) == 2
    assert await bench.cached.by_ids(["m1", "m2", "gone"]) == {"m1": a_memory("m1"), "m2": a_memory("m2")}
    assert bench.source.calls[-1] == ["m2", "gone"], "what is kept is not asked again"


async def test_forgetting_a_namespace_clears_its_cache_entries_and_no_others(bench: Bench):
    await bench.cached.by_ids(["m1", "b1"])
    await bench.cached.list_page(LISTED)
    bench.source.rows.clear()
    bench.cached.forget("app/ada")
    assert await bench.cached.get("m1") is None
    assert await bench.cached.list_page(LISTED) == ()
    assert await bench.cached.get("b1") is not None


async def test_forget_all_clears_the_entries_of_every_namespace(bench: Bench):
    await bench.cached.by_ids(["m1", "b1"])
    bench.source.rows.clear()
    bench.cached.forget_all()
    assert await bench.cached.by_ids(["m1", "b1"]) == {}


async def test_the_cache_is_bypassed_when_its_event_stream_lags(bench: Bench):
    await bench.cached.get("m1")
    bench.source.rows.clear()
    bench.now += 0.7
    assert await bench.cached.get("m1") is not None
    bench.now += 0.2
    assert await bench.cached.get("m1") is None, "nothing was heard for 0.9 s"


async def test_the_cache_is_bypassed_until_its_event_stream_has_caught_up_once():
    bench = Bench()
    bench.caught_up_to = 0.0
    await bench.cached.get("m1")
    await bench.cached.get("m1")
    assert len(bench.source.calls) == 2


async def test_cache_entries_expire_even_while_the_event_stream_is_current(bench: Bench):
    await bench.cached.get("m1")
    bench.source.rows.clear()
    bench.now = bench.caught_up_to = 110.0
    assert await bench.cached.get("m1") is None


@pytest.mark.parametrize("everything", [False, True])
async def test_a_read_overtaken_by_an_invalidation_is_not_cached(bench: Bench, everything: bool):
    bench.source.let.clear()
    reading = asyncio.create_task(bench.cached.get("m1"))
    await bench.source.reached.wait()
    bench.source.put(a_memory("m1", version=2))
    if everything:
        bench.cached.forget_all()
    else:
        bench.cached.forget("app/ada")
    bench.source.let.set()
    await reading
    assert (await bench.cached.get("m1") or a_memory()).version == 2


async def test_an_invalidation_of_another_namespace_does_not_prevent_caching_a_read(bench: Bench):
    bench.source.let.clear()
    reading = asyncio.create_task(bench.cached.get("m1"))
    await bench.source.reached.wait()
    bench.cached.forget("app/bob")
    bench.source.let.set()
    await reading
    await bench.cached.get("m1")
    assert len(bench.source.calls) == 1


async def test_the_least_recently_used_entry_is_evicted():
    bench = Bench(max_bytes=3_600)
    for memory_id in ("m1", "m2", "m1", "b1"):  # about 1,500 bytes each
        await bench.cached.get(memory_id)
    calls = len(bench.source.calls)
    await bench.cached.get("m1")
    assert len(bench.source.calls) == calls
    await bench.cached.get("m2")
    assert len(bench.source.calls) == calls + 1


async def test_a_cached_memory_is_served_during_an_outage_and_an_uncached_one_raises(bench: Bench):
    await bench.cached.get("m1")
    bench.source.down = True
    assert await bench.cached.get("m1") is not None
    with pytest.raises(Retryable):
        await bench.cached.get("m2")


@pytest.mark.parametrize(
    "filters",
    [
        {"tags": tuple(f"{number:_>256}" for number in range(64))},
        {"kinds": tuple(f"{number:_>256}" for number in range(64))},
        {"after": Place(0.5, "x" * 20_000)},
    ],
)
async def test_cached_empty_results_count_the_bytes_of_their_long_listing_filters(filters: dict[str, Any]):
    bench = Bench(max_bytes=45_000)
    for limit in range(1, 10):  # each of 16 KB and more
        await bench.cached.list_page(Listing(namespace="none", limit=limit, **filters))
    for limit in range(9, 0, -1):
        await bench.cached.list_page(Listing(namespace="none", limit=limit, **filters))
    assert 1 <= bench.hits <= 2


LONG = "\U0001f41d" * 250  # a kilobyte


@pytest.mark.parametrize(
    "parts",
    [
        {"text": LONG * 10},
        {"tags": (LONG,) * 10},
        {"kinds": (LONG,) * 10},
        {"links": (Link(type="relates", memory_id=LONG),) * 10},
        {"sources": (Source(conversation_id=LONG, message_id=LONG),) * 5},
    ],
)
def test_the_cache_size_of_a_memory_counts_every_field_of_unbounded_length(parts: dict[str, Any]):
    assert size(replace(a_memory(), **parts)) - size(replace(a_memory(), sources=())) > 9_000


async def test_a_replaced_cache_entry_does_not_count_twice_toward_the_size_limit():
    bench = Bench(max_bytes=2_600)
    for version in range(2, 20):
        bench.caught_up_to = 0.0  # passed by, and kept anew
        bench.source.put(replace(a_memory("m1"), version=version))
        await bench.cached.get("m1")
    bench.caught_up_to = bench.now
    assert (await bench.cached.get("m1") or a_memory()).version == 19
    assert bench.hits == 1


async def test_the_cache_reports_hits_and_misses_to_the_meters():
    meters, bench = ApiMeters(), Bench()
    bench.cached = CachedMemories(
        bench.source, lambda: bench.now, lambda: bench.caught_up_to, on_read=lambda kept, _: meters.read(kept)
    )
    await bench.cached.by_ids(["m1", "m2"])
    await bench.cached.by_ids(["m1", "gone"])
    await bench.cached.list_page(LISTED)
    await bench.cached.list_page(LISTED)
    kept, read = [
        meters.registry.get_sample_value("memstream_memory_reads_total", {"cached": each}) for each in ("true", "false")
    ]
    assert (kept, read) == (2, 4)
