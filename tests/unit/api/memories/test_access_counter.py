"""Reads are counted, written in batches, and kept while PostgreSQL is down."""

from collections.abc import Collection
from datetime import datetime, timedelta

import pytest

from agents.api.memories import access_counter
from agents.api.memories.access_counter import AccessCounter
from schemas.errors import Retryable
from sinks.memories.access_counts import Access
from tests.api import NOON, a_memory
from tests.fakes.accesses import FakeAccesses


class Bench:
    def __init__(self) -> None:
        self.now: datetime = NOON
        self.kept = FakeAccesses()
        self.counter = AccessCounter(self.kept, lambda: self.now)


async def test_noted_reads_are_visible_before_the_flush_and_written_exactly_once():
    bench = Bench()
    bench.counter.note([a_memory("m1"), a_memory("m2")])
    bench.now += timedelta(seconds=3)
    bench.counter.note([a_memory("m1")])
    assert bench.kept.rows == {}
    expected = {"m1": Access(2, bench.now), "m2": Access(1, NOON)}
    assert await bench.counter.of(["m1", "m2", "m3"]) == expected
    await bench.counter.flush()
    await bench.counter.flush()
    assert bench.kept.rows == expected
    assert await bench.counter.of(["m1", "m2", "m3"]) == expected


async def test_access_counts_written_by_other_processes_appear_after_the_cache_expires():
    bench = Bench()
    await bench.counter.of(["m1"])
    bench.kept.rows["m1"] = Access(5, NOON)
    assert await bench.counter.of(["m1"]) == {}
    bench.now += timedelta(seconds=access_counter.CACHE_S)
    assert await bench.counter.of(["m1"]) == {"m1": Access(5, NOON)}
    assert bench.kept.calls == 2


async def test_cached_access_counts_are_returned_even_if_the_lookup_overflows_the_cache(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(access_counter, "MAX_MEMORIES", 2)
    bench = Bench()
    bench.kept.rows = {f"m{number}": Access(number, NOON) for number in range(1, 5)}
    await bench.counter.of(["m1", "m2"])
    assert await bench.counter.of(["m1", "m3"]) == {"m1": Access(1, NOON), "m3": Access(3, NOON)}


async def test_cached_access_counts_are_returned_even_if_a_concurrent_lookup_clears_the_cache(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(access_counter, "MAX_MEMORIES", 2)
    bench = Bench()
    bench.kept.rows = {f"m{number}": Access(number, NOON) for number in range(1, 5)}
    await bench.counter.of(["m1"])
    plainly = bench.kept.of

    async def overtaken(memory_ids: Collection[str]) -> dict[str, Access]:
        monkeypatch.setattr(bench.kept, "of", plainly)
        await bench.counter.of(["m3", "m4"])
        return await plainly(memory_ids)

    monkeypatch.setattr(bench.kept, "of", overtaken)
    assert await bench.counter.of(["m1", "m2"]) == {"m1": Access(1, NOON), "m2": Access(2, NOON)}


async def test_access_counts_of_a_failed_flush_are_written_by_the_next_flush():
    bench = Bench()
    bench.counter.note([a_memory("m1")])
    bench.kept.down = True
    with pytest.raises(Retryable):
        await bench.counter.flush()
    bench.counter.note([a_memory("m1")])
    bench.kept.down = False
    await bench.counter.flush()
    assert bench.kept.rows["m1"].access_count == 2


async def test_the_number_of_memories_with_unflushed_reads_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(access_counter, "MAX_MEMORIES", 3)
    monkeypatch.setattr(access_counter, "BATCH_SIZE", 2)
    bench = Bench()
    bench.counter.note([a_memory(f"m{number}") for number in range(5)])
    bench.counter.note([a_memory("m0")])
    await bench.counter.flush()
    assert {memory_id: access.access_count for memory_id, access in bench.kept.rows.items()} == {
        "m0": 2,
        "m1": 1,
        "m2": 1,
    }
