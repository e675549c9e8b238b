"""Memories in memory and on PostgreSQL are listed and found in the same way."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.extraction.links import Link
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.memories import writer
from sinks.memories.entry import LedgerEntry
from sinks.memories.listing import Listing
from sinks.memories.reader import Memories, MemoryVersion
from sinks.postgres.connection import Pool, connect
from sinks.vectors.port import Vector
from tests.builders.memories import NOON, a_memory
from tests.cases.hostile_text import HARD_TO_STORE
from tests.fakes.memories import FakeMemories

CAUSE = Cause(actor="test")
VECTOR = np.ones(4, np.float32) / 2
MODEL = "m"


class OnPostgres(Memories):
    """With a way to put memories there."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self.pool = pool

    async def keep(self, *memories: Memory) -> None:
        """In this version, as created, with a vector."""
        for each in memories:
            await self.change("created", None, each, VECTOR)

    async def change(self, change: Change, before: Memory | None, after: Memory, vector: Vector | None = None) -> None:
        fields: dict[str, Any] = {"before": before, "normalised": after.text, "cause": CAUSE, "at": NOON}
        entry = LedgerEntry(change=change, after=after, vector=vector, **fields)
        async with self.pool.acquire() as connection, connection.transaction():
            await writer.sequence(connection, after.namespace)
            await writer.record(connection, after.namespace, [entry], MODEL)


class InMemory(FakeMemories):
    async def keep(self, *memories: Memory) -> None:
        for each in memories:
            self.vectors[each.memory_id] = VECTOR
            await self.change("created", None, each)

    async def change(self, change: Change, before: Memory | None, after: Memory) -> None:
        self.put(after)
        fields: dict[str, Any] = {"namespace": after.namespace, "version": after.version, "cause": CAUSE, "at": NOON}
        self.version_rows.append(
            MemoryVersion(memory_id=after.memory_id, change=change, before=before, after=after, **fields)
        )


AnyMemories: TypeAlias = OnPostgres | InMemory


@pytest.fixture(params=["fake", "postgres"])
async def memories(request: pytest.FixtureRequest, dsn: str) -> AsyncIterator[AnyMemories]:
    if request.param == "fake":
        yield InMemory()
        return
    pool = await connect(dsn, max_size=2)
    yield OnPostgres(pool)
    await pool.close()


async def test_queries_for_unknown_memories_return_nothing(memories: AnyMemories, name: str) -> None:
    assert await memories.get(name) is None
    assert await memories.by_ids([]) == await memories.by_ids(HARD_TO_STORE) == {}
    assert await memories.list_page(Listing(namespace=name)) == ()
    assert await memories.versions_after(name, 0, 10) == ()
    assert await memories.points([name], MODEL) == []
    assert await memories.linking(name, [name]) == ()
    assert await memories.erased_from(name) is None


async def test_versions_after_returns_later_versions_in_order(memories: AnyMemories, name: str) -> None:
    first = a_memory(memory_id=name, namespace=name)
    await memories.keep(*(replace(first, version=version, sequence=version) for version in (1, 2, 3)))
    assert [each.version for each in await memories.versions_after(name, 1, 10)] == [2, 3]
    assert [each.version for each in await memories.versions_after(name, 0, 1)] == [1]


async def test_a_deleted_memory_is_listed_with_its_last_text_and_tags(memories: AnyMemories, name: str) -> None:
    first = a_memory(memory_id=name, namespace=name, text="User lives in Ghent.", tags=("home",))
    gone = replace(
        first, status="deleted", text="", tags=(), version=2, sequence=2, updated_at=NOON + timedelta(days=1)
    )
    await memories.keep(first)
    await memories.change("deleted", first, gone)
    await memories.change("deleted", gone, again := replace(gone, version=3, sequence=3))
    (listed,) = await memories.list_page(Listing(namespace=name, statuses=("deleted",), order="updated"))
    assert (listed.text, listed.tags, listed.status) == ("User lives in Ghent.", ("home",), "deleted")
    assert (listed.version, listed.updated_at) == (3, again.updated_at)
    assert await memories.list_page(Listing(namespace=name)) == ()


async def test_linking_returns_memories_that_link_to_another_in_the_same_namespace_only(
    memories: AnyMemories, name: str
) -> None:
    links = (Link(type="relates", memory_id=f"{name} 1"),)
    one, linking = (a_memory(memory_id=f"{name} {number}", namespace=name) for number in (1, 2))
    foreign = a_memory(memory_id=f"{name} 3", namespace=f"{name} other", links=links)
    await memories.keep(one, linking := replace(linking, links=links), foreign)
    assert await memories.linking(name, [one.memory_id]) == (linking,)
    await memories.keep(later := replace(linking, memory_id=f"{name} 4", sequence=4))
    assert await memories.linking(name, [one.memory_id]) == (linking, later)
    assert await memories.linking(name, [one.memory_id], 1) == (linking,)


async def test_points_returns_stored_vectors_of_known_memories(memories: AnyMemories, name: str) -> None:
    await memories.keep(a_memory(memory_id=name, namespace=name))
    (point,) = await memories.points([name, "unknown"], MODEL)
    assert (point.memory_id, point.vector.tolist()) == (name, VECTOR.tolist())


@pytest.mark.parametrize("text", HARD_TO_STORE)
async def test_any_text_is_accepted_in_listing_filters(memories: AnyMemories, name: str, text: str) -> None:
    listing = Listing(namespace=f"{name}{text}", kinds=(text,), tags=(text,))
    assert await memories.list_page(listing) == ()


KINDS, TAGS = ["fact", "plan", "pet"], ["home", "work"]
MOMENTS = st.integers(0, 3).map(lambda hours: NOON + timedelta(hours=hours))
IMPORTANCES = st.sampled_from([0.0, 0.1, 0.2, 0.30000000000000004, 0.5, 1.0])

KEPT = st.lists(
    st.builds(
        dict,
        kind=st.sampled_from(KINDS),
        kinds=st.lists(st.sampled_from(KINDS), max_size=2).map(tuple),
        tags=st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple),
        importance=IMPORTANCES,
        status=st.sampled_from(["active", "active", "superseded", "expired", "deleted"]),
        created_at=MOMENTS,
        updated_at=MOMENTS,
    ),
    max_size=12,
)
ASKED = st.builds(
    Listing,
    namespace=st.just(""),
    statuses=st.sampled_from([("active",), ("active", "superseded"), ("expired", "deleted")]),
    kinds=st.lists(st.sampled_from(KINDS), max_size=2).map(tuple),
    tags=st.lists(st.sampled_from(TAGS), max_size=2).map(tuple),
    least_importance=st.sampled_from([0.0, 0.0, 0.2]),
    most_importance=st.sampled_from([1.0, 1.0, 0.5]),
    created_from=st.none() | MOMENTS,
    created_to=st.none() | MOMENTS,
    order=st.sampled_from(["importance", "created", "updated"]),
    limit=st.integers(1, 4),
)


async def pages(memories: AnyMemories, listing: Listing) -> list[str]:
    """Ids of all that is found, a page at a time."""
    found: list[str] = []
    while page := await memories.list_page(listing):
        assert len(page) <= listing.limit
        found += [memory.memory_id for memory in page]
        listing = replace(listing, after=listing.place(page[-1]))
    return found


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(KEPT, ASKED)
async def test_fake_and_database_list_the_same_memories_in_the_same_order(
    dsn: str, kept: Any, listing: Listing
) -> None:
    pool, name = await connect(dsn, max_size=1), uuid4().hex
    there = [a_memory(memory_id=f"{name} {number}", namespace=name, **fields) for number, fields in enumerate(kept)]
    found = []
    for memories in (InMemory(), OnPostgres(pool)):
        await memories.keep(*there, a_memory(memory_id=f"{name} x", namespace=f"{name} other"))
        found.append(await pages(memories, replace(listing, namespace=name)))
    await pool.close()
    assert found[0] == found[1]
    assert len(set(found[0])) == len(found[0])
