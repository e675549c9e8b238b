"""The cache of memories: what events do to it, and when it is passed by."""

import asyncio
from collections.abc import Collection
from typing import Any

import pytest
from msgspec.structs import replace

from agents.api.memories.cache import CachedMemories, size
from deploy.metrics.api_meters import ApiMeters
from schemas.errors import Retryable
from schemas.extraction.candidates import Source
from schemas.memories.links import Link
from schemas.memories.memories import Memory
from sinks.memories.listing import Listing, Place
from tests.api import a_memory
from tests.fakes.memories import FakeMemories

LISTED = Listing(namespace="app/ada")


class Slow(FakeMemories):
    """Counts what it is asked, and answers once it is let: with what it held when it was asked."""

    def __init__(self, *memories: Memory) -> None:
        super().__init__(*memories)
        self.asked: list[Collection[str]] = []
        self.reached = asyncio.Event()
        self.let = asyncio.Event()
        self.let.set()

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        self.asked.append(memory_ids)
        found = await super().by_ids(memory_ids)
        self.reached.set()
        await self.let.wait()
        return found

    async def list_page(self, asked: Listing) -> tuple[Memory, ...]:
        self.asked.append(())
        return await super().list_page(asked)


class Bench:
    """A cache over a source, with a clock and an ear of its own."""

    def __init__(self, **options: float) -> None:
        self.now = 100.0
        self.caught_up_to = 100.0
        self.source = Slow(a_memory("m1"), a_memory("m2"), a_memory("b1", namespace="app/bob"))
        self.cached = CachedMemories(self.source, lambda: self.now, lambda: self.caught_up_to, **options)  # type: ignore[arg-type]


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_a_memory_and_a_page_are_read_once(bench: Bench):
    for _ in range(3):
        assert await bench.cached.get("m1") == a_memory("m1")
        assert len(await bench.cached.list_page(LISTED)) == 2
    assert len(bench.source.asked) == 2
    assert await bench.cached.by_ids(["m1", "m2", "gone"]) == {"m1": a_memory("m1"), "m2": a_memory("m2")}
    assert bench.source.asked[-1] == ["m2", "gone"], "what is kept is not asked again"


async def test_what_happened_in_a_namespace_empties_it_and_no_other(bench: Bench):
    await bench.cached.by_ids(["m1", "b1"])
    await bench.cached.list_page(LISTED)
    bench.source.rows.clear()
    bench.cached.forget("app/ada")
    assert await bench.cached.get("m1") is None
    assert await bench.cached.list_page(LISTED) == ()
    assert await bench.cached.get("b1") is not None


async def test_what_may_have_been_missed_empties_everything(bench: Bench):
    await bench.cached.by_ids(["m1", "b1"])
    bench.source.rows.clear()
    bench.cached.forget_all()
    assert await bench.cached.by_ids(["m1", "b1"]) == {}


async def test_a_cache_that_has_not_heard_lately_is_passed_by(bench: Bench):
    await bench.cached.get("m1")
    bench.source.rows.clear()
    bench.now += 0.7
    assert await bench.cached.get("m1") is not None
    bench.now += 0.2
    assert await bench.cached.get("m1") is None, "nothing was heard for 0.9 s"


async def test_a_cache_that_has_never_heard_is_passed_by():
    bench = Bench()
    bench.caught_up_to = 0.0
    await bench.cached.get("m1")
    await bench.cached.get("m1")
    assert len(bench.source.asked) == 2


async def test_an_entry_has_an_end_whatever_is_heard(bench: Bench):
    await bench.cached.get("m1")
    bench.source.rows.clear()
    bench.now = bench.caught_up_to = 110.0
    assert await bench.cached.get("m1") is None


@pytest.mark.parametrize("everything", [False, True])
async def test_what_was_read_before_an_event_and_came_after_it_is_not_kept(bench: Bench, everything: bool):
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


async def test_an_event_elsewhere_does_not_keep_a_read_from_being_kept(bench: Bench):
    bench.source.let.clear()
    reading = asyncio.create_task(bench.cached.get("m1"))
    await bench.source.reached.wait()
    bench.cached.forget("app/bob")
    bench.source.let.set()
    await reading
    await bench.cached.get("m1")
    assert len(bench.source.asked) == 1


async def test_what_was_not_used_for_longest_makes_room():
    bench = Bench(max_bytes=3_600)
    for memory_id in ("m1", "m2", "m1", "b1"):  # about 1,500 bytes each
        await bench.cached.get(memory_id)
    asked = len(bench.source.asked)
    await bench.cached.get("m1")
    assert len(bench.source.asked) == asked
    await bench.cached.get("m2")
    assert len(bench.source.asked) == asked + 1


async def test_the_cache_hides_no_outage_of_what_it_does_not_hold(bench: Bench):
    await bench.cached.get("m1")
    bench.source.down = True
    assert await bench.cached.get("m1") is not None
    with pytest.raises(Retryable):
        await bench.cached.get("m2")


@pytest.mark.parametrize(
    "asked",
    [
        {"tags": tuple(f"{number:_>256}" for number in range(64))},
        {"kinds": tuple(f"{number:_>256}" for number in range(64))},
        {"after": Place(0.5, "x" * 20_000)},
    ],
)
async def test_long_questions_that_find_nothing_take_room_too(asked: dict[str, Any]):
    bench = Bench(max_bytes=45_000)
    for limit in range(1, 10):  # each of 16 KB and more
        await bench.cached.list_page(Listing(namespace="none", limit=limit, **asked))
    for limit in range(9, 0, -1):
        await bench.cached.list_page(Listing(namespace="none", limit=limit, **asked))
    assert 1 <= bench.cached.hits <= 2


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
def test_whatever_may_be_long_of_a_memory_is_counted(parts: dict[str, Any]):
    assert size(replace(a_memory(), **parts)) - size(replace(a_memory(), sources=())) > 9_000


async def test_replaced_entries_do_not_add_up():
    bench = Bench(max_bytes=2_600)
    for version in range(2, 20):
        bench.caught_up_to = 0.0  # passed by, and kept anew
        bench.source.put(replace(a_memory("m1"), version=version))
        await bench.cached.get("m1")
    bench.caught_up_to = bench.now
    assert (await bench.cached.get("m1") or a_memory()).version == 19
    assert bench.cached.hits == 1


async def test_it_is_told_of_each_read_whether_it_was_at_hand():
    meters, bench = ApiMeters(), Bench()
    bench.cached = CachedMemories(
        bench.source, lambda: bench.now, lambda: bench.caught_up_to, on_read=lambda kept, _: meters.read(kept)
    )
    await bench.cached.by_ids(["m1", "m2"])
    await bench.cached.by_ids(["m1", "gone"])
    await bench.cached.list_page(LISTED)
    await bench.cached.list_page(LISTED)
    kept, read = [
        meters.registry.get_sample_value("memstream_memory_reads_total", {"kept": each}) for each in ("true", "false")
    ]
    assert (kept, read) == (2, 4)
