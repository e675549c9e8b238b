"""The index rebuilt from Postgres, on Qdrant itself (the embedded engine)."""

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient

from agents.curator import Curator
from deploy.embedded.stack import EmbeddedStack
from schemas.policies import Policies
from schemas.requests import Command
from sinks.embeddings.fake import FakeEmbedder
from sinks.memories import Memories
from sinks.outbox import Projector
from sinks.qdrant import Vectors
from sinks.queries import query
from sinks.reindex import Reindexed, reindex
from sinks.vectors import Point

if TYPE_CHECKING:
    from tests.integration.sinks.conftest import Bench

DIMENSION = 64


@pytest.fixture
async def client(embedded_stack: EmbeddedStack) -> AsyncIterator[AsyncQdrantClient]:
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url)
    yield client
    await client.close()


@pytest.fixture
async def vectors(client: AsyncQdrantClient) -> AsyncIterator[Vectors]:
    vectors = Vectors(
        client, dimension=DIMENSION, embedding_model=FakeEmbedder.model, collection=f"reindex-{uuid4().hex}"
    )
    await vectors.ensure_collection()
    yield vectors
    await vectors.drop_collection()


@pytest.fixture
def curator(bench: "Bench", vectors: Vectors) -> Curator:
    projector = Projector(bench.pool, vectors, bench.publisher, stale_s=0)
    return Curator(bench.pool, vectors, FakeEmbedder(DIMENSION), projector, Policies(), bench.now)


async def fill(bench: "Bench", curator: Curator) -> dict[str, str]:
    """Memories in three namespaces, one of them deleted and one superseded; the points that there should be."""
    for namespace in ("a", "b", "c"):
        await curator.curate(bench.batch(*(f"{namespace} {n} dogs" for n in range(2, 9)), namespace=namespace))
    (first, second, *_) = await bench.memories.in_namespace("a")
    said = bench.candidate("something else", contradicts=first.memory_id)
    await curator.curate(bench.batch(said, namespace="a"))
    await curator.carry_out(
        Command(command_id="x", kind="delete", namespace="a", at=bench.now(), memory_id=second.memory_id)
    )
    rows = await bench.pool.fetch("SELECT memory_id, namespace FROM memories WHERE status <> 'deleted'")
    return {row["memory_id"]: row["namespace"] for row in rows}


async def held(vectors: Vectors) -> dict[str, str]:
    return {memory_id: namespace async for page in vectors.ids() for namespace, memory_id in page}


async def test_a_lost_collection_is_rebuilt(bench: "Bench", curator: Curator, vectors: Vectors) -> None:
    points = await fill(bench, curator)
    assert await held(vectors) == points
    await vectors.drop_collection()
    assert await reindex(bench.pool, vectors, page=4) == Reindexed(written=len(points), removed=0, left_out=0)
    assert await held(vectors) == points
    again = await curator.curate(bench.batch("The b 5 dogs", namespace="b"))
    assert again.rulings[0].result == "reinforced"


async def test_points_that_postgres_does_not_know_are_removed(
    bench: "Bench", curator: Curator, vectors: Vectors
) -> None:
    points = await fill(bench, curator)
    vector = (await FakeEmbedder(DIMENSION).embed(["stray"]))[0]
    stray = Point(
        memory_id=str(uuid4()),
        namespace="a",
        kind="fact",
        kinds=("fact",),
        status="active",
        text="stray",
        importance=0.5,
        vector=vector,
    )
    await vectors.upsert([stray])
    assert (await reindex(bench.pool, vectors, page=5)).removed == 1
    assert await held(vectors) == points


async def test_nothing_is_lost_that_a_worker_decides_meanwhile(
    bench: "Bench", curator: Curator, vectors: Vectors
) -> None:
    await fill(bench, curator)

    async def work() -> None:
        for number in range(20, 50):
            await curator.curate(bench.batch(f"b {number} cats", namespace="b"))
            (memory, *_) = await bench.memories.in_namespace("b")
            order = Command(
                command_id=uuid4().hex, kind="delete", namespace="b", at=bench.now(), memory_id=memory.memory_id
            )
            await curator.carry_out(order)

    working = asyncio.create_task(work())
    rounds = 0
    while not working.done():
        await reindex(bench.pool, vectors, page=3)
        rounds += 1
    await working
    assert rounds > 1
    rows = await bench.pool.fetch("SELECT memory_id FROM memories WHERE status <> 'deleted'")
    assert set(await held(vectors)) == {row["memory_id"] for row in rows}


async def test_a_page_waits_for_whoever_decides_and_then_writes_what_was_decided(
    bench: "Bench", curator: Curator, vectors: Vectors, client: AsyncQdrantClient
) -> None:
    await fill(bench, curator)
    (memory, *_) = await bench.memories.in_namespace("a")
    async with bench.pool.acquire() as connection, connection.transaction():
        await connection.execute(query("memories", "lock_namespace"), "a")
        await connection.execute("UPDATE memories SET text = 'decided' WHERE memory_id = $1", memory.memory_id)
        await vectors.upsert(await Memories(connection).points([memory.memory_id], vectors.embedding_model))
        reindexing = asyncio.create_task(reindex(bench.pool, vectors))
        async with asyncio.timeout(10):
            while not await bench.pool.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
                assert not reindexing.done(), "it did not wait"
    await reindexing
    (point,) = await client.retrieve(vectors._collection, [memory.memory_id])
    assert point.payload is not None
    assert point.payload["text"] == "decided"


async def test_another_model_needs_an_embedder_and_another_dimension_a_new_collection(
    bench: "Bench", curator: Curator, vectors: Vectors, client: AsyncQdrantClient
) -> None:
    points = await fill(bench, curator)
    other = FakeEmbedder(32)
    other.model = "another"  # type: ignore[misc]
    small = Vectors(client, dimension=32, embedding_model="another", collection=vectors._collection)
    assert await reindex(bench.pool, small) == Reindexed(written=0, removed=0, left_out=len(points))
    assert await reindex(bench.pool, small, other, page=6) == Reindexed(written=len(points), removed=0, left_out=0)
    assert await held(small) == points
