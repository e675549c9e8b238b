"""Cached rows of search hits are returned only in their current state in PostgreSQL."""

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from agents.api.memories.cache import size
from agents.api.memories.memory_row_cache import MemoryRowCache
from schemas.kafka import topics
from schemas.memories.commands import Command
from sinks.memories.reader import Memories
from tests.integration.curation_bench import NOON

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench


class Kept:
    """Hot memories over the bench's database, and how many of those that were asked for were kept, and were not."""

    def __init__(self, bench: "Bench", **options: int) -> None:
        self.counts = {True: 0, False: 0}
        self.hot = MemoryRowCache(bench.memories, on_read=self._count, **options)

    def _count(self, kept: bool, number: int) -> None:
        self.counts[kept] += number


@pytest.fixture
def kept(bench: "Bench") -> Kept:
    return Kept(bench)


async def test_a_memory_read_once_is_cached_and_returned_unchanged(bench: "Bench", kept: Kept) -> None:
    dog, cat = await bench.remember("User has a dog"), await bench.remember("User has a cat")
    for _ in range(3):
        assert await kept.hot.by_ids([dog.memory_id]) == {dog.memory_id: dog}
    both = await kept.hot.by_ids([cat.memory_id, dog.memory_id, "nobody"])
    assert both == await bench.memories.by_ids([cat.memory_id, dog.memory_id])
    assert kept.counts == {True: 3, False: 3}


async def test_changed_or_erased_memories_are_returned_as_stored_now_without_any_event(
    bench: "Bench", kept: Kept
) -> None:
    dog, cat = await bench.remember("User has a dog"), await bench.remember("User has a cat")
    ids = [dog.memory_id, cat.memory_id]
    await kept.hot.by_ids(ids)
    changed = {"memory_id": dog.memory_id, "text": "User has a black dog"}
    await bench.curator.apply_command(Command(command_id="u", kind="update", namespace="n", at=NOON, **changed))
    await bench.curator.apply_command(
        Command(command_id="d", kind="delete", namespace="n", at=NOON, memory_id=cat.memory_id)
    )
    now = await kept.hot.by_ids(ids)
    assert now == await bench.memories.by_ids(ids)
    assert (now[dog.memory_id].text, now[cat.memory_id].status) == ("User has a black dog", "deleted")
    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace="n", at=NOON))
    assert await kept.hot.by_ids(ids) == {}
    assert kept.hot.bytes == 0, "nothing that is erased stays in the process once it was asked for"


async def test_a_row_rewritten_without_changes_is_read_again(bench: "Bench", kept: Kept) -> None:
    dog = await bench.remember("User has a dog")
    await kept.hot.by_ids([dog.memory_id])
    await bench.pool.execute("UPDATE memories SET text = text WHERE memory_id = $1", dog.memory_id)
    assert await kept.hot.by_ids([dog.memory_id]) == {dog.memory_id: dog}
    assert kept.counts == {True: 0, False: 2}


async def test_new_memories_are_cached_from_their_events(bench: "Bench", kept: Kept) -> None:
    dog = await bench.remember("User has a dog")
    events = bench.publisher.on(topics.EVENTS)
    kept.hot.apply_events([*events, SimpleNamespace(value=b"no event"), SimpleNamespace(value=None)])
    assert (await kept.hot.warm(), await kept.hot.warm()) == (1, 0)
    assert await kept.hot.by_ids([dog.memory_id]) == {dog.memory_id: dog}
    assert kept.counts == {True: 1, False: 0}


async def test_an_erasure_event_removes_memories_from_the_cache(bench: "Bench", kept: Kept) -> None:
    dog = await bench.remember("User has a dog")
    await kept.hot.by_ids([dog.memory_id])
    assert kept.hot.bytes > 0
    made = len(bench.publisher.on(topics.EVENTS))
    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace="n", at=NOON))
    kept.hot.apply_events(bench.publisher.on(topics.EVENTS)[made:])
    assert kept.hot.bytes == 0


@pytest.mark.parametrize("missed", [False, True])
async def test_a_row_read_before_an_event_is_not_cached_after_it(
    bench: "Bench", kept: Kept, monkeypatch: pytest.MonkeyPatch, missed: bool
) -> None:
    dog = await bench.remember("User has a dog")
    made = len(bench.publisher.on(topics.EVENTS))
    read = Memories.rows_unless

    async def overtaken(memories: Memories, known: dict[str, int]) -> object:
        found = await read(memories, known)
        await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace="n", at=NOON))
        if missed:
            kept.hot.forget_all()
        else:
            kept.hot.apply_events(bench.publisher.on(topics.EVENTS)[made:])
        return found

    monkeypatch.setattr(Memories, "rows_unless", overtaken)
    await kept.hot.by_ids([dog.memory_id])
    assert kept.hot.bytes == 0


async def test_a_memory_erased_before_it_was_read_is_not_cached(bench: "Bench", kept: Kept) -> None:
    await bench.remember("User has a dog")
    kept.hot.apply_events(bench.publisher.on(topics.EVENTS))
    await bench.curator.apply_command(Command(command_id="p", kind="purge", namespace="n", at=NOON))
    assert (await kept.hot.warm(), kept.hot.bytes) == (0, 0)


async def test_a_full_cache_keeps_the_most_recently_read_memories(bench: "Bench") -> None:
    dog, cat, hen = [await bench.remember(f"User has a {animal}") for animal in ("dog", "cat", "hen")]
    kept = Kept(bench, max_bytes=size(dog) + size(cat) + size(hen) - 1)
    for each in (dog, cat, dog, hen):
        await kept.hot.by_ids([each.memory_id])
    before = dict(kept.counts)
    await kept.hot.by_ids([dog.memory_id])
    await kept.hot.by_ids([cat.memory_id])
    assert (kept.counts[True] - before[True], kept.counts[False] - before[False]) == (1, 1)
