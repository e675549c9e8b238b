"""Concurrent reads of cached memories return current rows, in whatever order they end."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace

from agents.api.memories.memory_row_cache import MemoryRowCache
from schemas import codec
from sinks.memories.reader import MemoryRow
from tests.api import a_memory
from tests.fakes.memories import FakeMemories


class Held(FakeMemories):
    """Answers for each memory once it is let: with what it held when it was asked."""

    def __init__(self, *memory_ids: str) -> None:
        super().__init__(*map(a_memory, memory_ids))
        self.let = {each: asyncio.Event() for each in memory_ids}

    async def rows_unless(self, known: Mapping[str, int]) -> tuple[dict[str, MemoryRow], frozenset[str]]:
        found = await self.by_ids(known)
        for each in known:
            await self.let[each].wait()
        return {each: MemoryRow(memory, 1) for each, memory in found.items()}, frozenset()


def event(memory_id: str) -> SimpleNamespace:
    return SimpleNamespace(value=codec.encode({"type": "memstream.memory.updated", "subject": memory_id}))


async def test_a_change_during_an_overlapping_read_prevents_caching_its_result():
    source = Held("m1", "m2")
    hot = MemoryRowCache(source)
    first, later = asyncio.create_task(hot.by_ids(["m1"])), asyncio.create_task(hot.by_ids(["m2"]))
    await asyncio.sleep(0)
    source.let["m2"].set()
    assert (await later).keys() == {"m2"}
    kept = hot.bytes
    hot.apply_events([event("m1")])
    source.let["m1"].set()
    assert (await first).keys() == {"m1"}
    assert hot.bytes == kept, "what changed during its read is not kept"
