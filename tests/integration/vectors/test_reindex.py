"""The index rebuilt from PostgreSQL, on Qdrant itself (the embedded engine)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pytest
from numpy.typing import NDArray
from qdrant_client import AsyncQdrantClient

from agents.curation.compactor import Compactor
from agents.curation.curator import Curator
from agents.curation.editor import Editor
from deploy.embedded.stack import EmbeddedStack
from schemas.errors import Misconfigured, Retryable
from schemas.memories.commands import Command
from schemas.policies.policies import Policies
from sinks.embeddings.endpoint import Endpoint
from sinks.embeddings.protocols import OpenAiDialect
from sinks.embeddings.remote import RemoteEmbedder
from sinks.memories.reader import Memories
from sinks.outbox.projector import Projector
from sinks.postgres.queries import query
from sinks.vectors.port import Point
from sinks.vectors.qdrant import Vectors
from sinks.vectors.reindex import Reindexed, reindex
from tests.fakes.embedder import FakeEmbedder
from tests.servers.embeddings import MODEL, EmbeddingServer

if TYPE_CHECKING:
    from tests.integration.curation_bench import Bench

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
    embedder = FakeEmbedder(DIMENSION)
    compactor = Compactor(bench.provider, embedder)
    return Curator(bench.pool, vectors, embedder, projector, Policies(), bench.now, compactor, Editor(bench.provider))


async def fill(bench: "Bench", curator: Curator) -> dict[str, str]:
    """Memories in three namespaces, one of them deleted and one superseded; the points that there should be."""
    for namespace in ("a", "b", "c"):
        await curator.curate(bench.batch(*(f"{namespace} dog {n}" for n in range(2, 9)), namespace=namespace))
    (first, second, *_) = await bench.memories.in_namespace("a")
    said = bench.candidate("something else", contradicts=first.memory_id)
    await curator.curate(bench.batch(said, namespace="a"))
    await curator.apply_command(
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
    again = await curator.curate(bench.batch("The b dog 5", namespace="b"))
    assert again.rulings[0].result == "reinforced"


async def test_no_decision_is_made_while_the_index_is_being_filled(
    bench: "Bench", curator: Curator, vectors: Vectors
) -> None:
    """A candidate that comes while a lost collection is written would find nothing near it, and become a second memory."""
    await fill(bench, curator)
    await vectors.drop_collection()
    again = bench.batch("the user has b dog 5", namespace="b")
    with pytest.raises(Retryable):
        await curator.curate(again)
    await vectors.recreate()
    with pytest.raises(Retryable, match="is incomplete"):
        await curator.curate(again)
    await reindex(bench.pool, vectors)
    assert (await curator.curate(again)).rulings[0].result != "dropped"


async def test_points_missing_in_postgres_are_removed(bench: "Bench", curator: Curator, vectors: Vectors) -> None:
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


async def test_decisions_of_a_worker_during_a_reindex_are_not_lost(
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
            await curator.apply_command(order)

    working = asyncio.create_task(work())
    rounds = 0
    while not working.done():
        await reindex(bench.pool, vectors, page=3)
        rounds += 1
    await working
    assert rounds > 1
    rows = await bench.pool.fetch("SELECT memory_id FROM memories WHERE status <> 'deleted'")
    assert set(await held(vectors)) == {row["memory_id"] for row in rows}


async def test_a_reindex_page_waits_for_a_concurrent_decision_and_writes_its_result(
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


@pytest.mark.parametrize("dimension", [32, DIMENSION], ids=["another dimension", "the same dimension"])
async def test_another_embedding_model_is_rejected_until_it_has_embedded_every_memory(
    bench: "Bench", curator: Curator, vectors: Vectors, client: AsyncQdrantClient, dimension: int
) -> None:
    points = await fill(bench, curator)
    async with EmbeddingServer(dimension) as server, aclosing(Endpoint(server.openai_url)) as endpoint:
        other = await RemoteEmbedder.connect(endpoint, OpenAiDialect(), MODEL)
        switched = Vectors(
            client, dimension=other.dimension, embedding_model=other.model, collection=vectors._collection
        )
        with pytest.raises(Misconfigured, match="memstream reindex"):
            await switched.ensure_collection()
        assert await reindex(bench.pool, switched) == Reindexed(written=0, removed=0, left_out=len(points))
        with pytest.raises(Misconfigured, match="memstream reindex"):
            await switched.ensure_collection()
        every = Reindexed(written=len(points), removed=0, left_out=0)
        assert await reindex(bench.pool, switched, other, page=6) == every
        await switched.ensure_collection()
        assert await held(switched) == points
        calls = len(server.seen)
        assert await reindex(bench.pool, switched, other) == every
        assert len(server.seen) == calls, "what is embedded is not embedded again"
        projector = Projector(bench.pool, switched, bench.publisher, stale_s=0)
        compactor = Compactor(bench.provider, other)
        moved = Curator(
            bench.pool, switched, other, projector, Policies(), bench.now, compactor, Editor(bench.provider)
        )
        again = await moved.curate(bench.batch("The b dog 5", namespace="b"))
        assert again.rulings[0].result == "reinforced"
    with pytest.raises(Misconfigured, match="memstream reindex"):
        await vectors.ensure_collection()
    assert await reindex(bench.pool, vectors, FakeEmbedder(DIMENSION)) == every
    await vectors.ensure_collection()
    assert await held(vectors) == points


async def test_an_interrupted_model_change_starts_again_from_the_beginning(
    bench: "Bench", curator: Curator, vectors: Vectors, client: AsyncQdrantClient
) -> None:
    points = await fill(bench, curator)

    class Failing(FakeEmbedder):
        model = "another"

        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if fuse:
                fuse.pop()
                raise Retryable("gone")
            return await super().embed(texts)

    fuse = [True]
    other = Vectors(client, dimension=DIMENSION, embedding_model="another", collection=vectors._collection)
    with pytest.raises(Retryable):
        await reindex(bench.pool, other, Failing(DIMENSION), page=3)
    for each in (vectors, other):
        with pytest.raises(Misconfigured, match="memstream reindex"):
            await each.ensure_collection()
    await reindex(bench.pool, other, Failing(DIMENSION), page=3)
    await other.ensure_collection()
    assert await held(other) == points
