"""The fake index and the one on Qdrant return the same results."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient, models

from deploy.embedded.stack import EmbeddedStack
from schemas.errors import Misconfigured, Retryable
from schemas.retrieval.searches import Filters
from sinks.embeddings.models import MINILM
from sinks.vectors.port import Point, PointsRefused, Vector, VectorIndex
from sinks.vectors.qdrant import Vectors
from sinks.vectors.qdrant_direct import DirectVectors
from sinks.vectors.qdrant_payload import INDEXES
from tests.cases.filters import CASES, FILTERED, ids
from tests.fakes.sinks import FakeVectors

DIMENSION = 8
EXACT = 1e-5


def towards(angle: float) -> Vector:
    """A unit vector whose cosine with `towards(0)` is that of the angle."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[:2] = np.cos(angle), np.sin(angle)
    return vector


def point(angle: float = 0, **fields: Any) -> Point:
    defaults: dict[str, Any] = {
        "memory_id": str(uuid4()),
        "namespace": "n",
        "kind": "fact",
        "kinds": ("fact",),
        "status": "active",
        "text": "text",
        "importance": 0.5,
        "vector": towards(angle),
    }
    return Point(**(defaults | fields))


@pytest.fixture(params=["fake", "qdrant", "direct"])
async def index(request: pytest.FixtureRequest) -> AsyncIterator[VectorIndex]:
    if request.param == "fake":
        yield FakeVectors()
        return
    stack: EmbeddedStack = request.getfixturevalue("embedded_stack")
    client = AsyncQdrantClient(url=stack.qdrant_url)
    kind = DirectVectors if request.param == "direct" else Vectors
    vectors = kind(client, dimension=DIMENSION, embedding_model="m", collection=f"index-{uuid4().hex}")
    await vectors.ensure_collection()
    yield vectors
    await vectors.drop_collection()
    if isinstance(vectors, DirectVectors):
        await vectors.aclose()
    await client.close()


async def all_ids(index: VectorIndex, page: int = 1_000) -> list[tuple[str, str]]:
    return [each async for ids in index.ids(page=page) for each in ids]


async def test_neighbours_are_returned_nearest_first_down_to_the_minimum_score(index: VectorIndex) -> None:
    near, nearer, far = point(0.5), point(0.1), point(1.2)
    await index.upsert([near, nearer, far])
    found = await index.neighbours("n", towards(0), min_score=0.7, limit=10)
    assert [neighbour.memory_id for neighbour in found] == [nearer.memory_id, near.memory_id]
    assert [neighbour.score for neighbour in found] == pytest.approx([np.cos(0.1), np.cos(0.5)], abs=EXACT)
    assert len(await index.neighbours("n", towards(0), min_score=0.7, limit=1)) == 1


async def test_neighbours_are_active_memories_of_the_namespace_only(index: VectorIndex) -> None:
    mine = point()
    await index.upsert([mine, point(namespace="other"), point(status="superseded")])
    found = await index.neighbours("n", towards(0), min_score=0.7, limit=10)
    assert [neighbour.memory_id for neighbour in found] == [mine.memory_id]


async def test_a_search_takes_several_namespaces_and_any_of_several_kinds(index: VectorIndex) -> None:
    fact, plan, both = point(), point(kinds=("plan",)), point(namespace="m", kinds=("event", "plan"))
    await index.upsert([fact, plan, both, point(namespace="other")])

    async def found(*namespaces: str, kinds: tuple[str, ...] = ()) -> set[str]:
        near = await index.search(towards(0), namespaces=namespaces, filters=Filters(kinds=kinds))
        return {each.memory_id for each in near}

    assert await found("n", "m") == {fact.memory_id, plan.memory_id, both.memory_id}
    assert await found("n", "m", kinds=("plan",)) == {plan.memory_id, both.memory_id}
    assert await found("m", kinds=("fact", "event")) == {both.memory_id}


async def test_a_search_returns_exactly_the_memories_accepted_by_the_filters(index: VectorIndex) -> None:
    held = [memory for memory in FILTERED.values() if memory.status != "deleted"]
    await index.upsert([Point.of(memory, towards(0)) for memory in held])
    for filters, accepted in CASES:
        near = await index.search(towards(0), namespaces=("n",), filters=filters)
        assert {each.memory_id for each in near} == ids(accepted), filters


async def test_a_search_returns_points_written_before_filter_fields_existed_unless_known_fields_differ(
    embedded_stack: EmbeddedStack,
) -> None:
    client, name = AsyncQdrantClient(url=embedded_stack.qdrant_url), f"index-{uuid4().hex}"
    await client.create_collection(name, models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE))
    old = {"namespace": "n", "kind": "fact", "kinds": ["fact"], "status": "active", "text": "text", "importance": 0.5}
    await client.upsert(name, [models.PointStruct(id=str(uuid4()), vector=towards(0).tolist(), payload=old)])
    vectors = Vectors(client, dimension=DIMENSION, embedding_model=MINILM.name, collection=name)
    await vectors.ensure_collection()
    assert len(await vectors.search(towards(0), namespaces=("n",), filters=Filters(tags=("work",)))) == 1
    assert await vectors.search(towards(0), namespaces=("n",), filters=Filters(kinds=("plan",))) == []
    assert INDEXES.keys() <= (await client.get_collection(name)).payload_schema.keys()
    await client.close()


async def test_filtered_out_points_do_not_use_up_the_search_limit(index: VectorIndex) -> None:
    """Points that a filter excludes must not count towards the limit."""
    await index.upsert([point(0.1) for _ in range(40)])
    wanted = point(1.0, tags=("work",))
    await index.upsert([wanted])
    found = await index.search(towards(0), namespaces=("n",), filters=Filters(tags=("work",)), limit=5)
    assert [each.memory_id for each in found] == [wanted.memory_id]


async def test_upserting_a_point_again_replaces_it(index: VectorIndex) -> None:
    first = point(0)
    await index.upsert([first])
    await index.upsert([point(1.5, memory_id=first.memory_id)])
    assert await index.count() == 1
    assert await index.neighbours("n", towards(0), min_score=0.7, limit=10) == []


async def test_deleting_unknown_points_is_ignored(index: VectorIndex) -> None:
    kept, gone = point(), point()
    await index.upsert([kept, gone])
    await index.delete([gone.memory_id, str(uuid4())])
    await index.delete([])
    assert await all_ids(index) == [("n", kept.memory_id)]


async def test_points_are_counted_and_listed_in_pages(index: VectorIndex) -> None:
    points = [point(namespace="n" if number % 3 else "m") for number in range(10)]
    await index.upsert(points)
    await index.upsert([])
    assert (await index.count(), await index.count("m"), await index.count("none")) == (10, 4, 0)
    assert sorted(await all_ids(index, page=3)) == sorted((each.namespace, each.memory_id) for each in points)


async def test_a_collection_may_be_ensured_again_and_dropped_twice(index: VectorIndex) -> None:
    await index.upsert([point()])
    await index.ensure_collection()
    assert await index.count() == 1
    await index.drop_collection()
    await index.drop_collection()
    await index.ensure_collection()
    assert await index.count() == 0


async def test_a_collection_of_another_dimension_raises_misconfigured_with_the_remedy(
    embedded_stack: EmbeddedStack,
) -> None:
    client, name = AsyncQdrantClient(url=embedded_stack.qdrant_url), f"index-{uuid4().hex}"
    await Vectors(client, dimension=4, embedding_model="small", collection=name).ensure_collection()
    with pytest.raises(Misconfigured, match=r"dimension 4.*makes 8.*memstream reindex"):
        await Vectors(client, dimension=8, embedding_model="large", collection=name).ensure_collection()
    await client.close()


async def test_a_collection_of_another_embedding_model_raises_misconfigured_with_the_remedy(
    embedded_stack: EmbeddedStack,
) -> None:
    client, name = AsyncQdrantClient(url=embedded_stack.qdrant_url), f"index-{uuid4().hex}"
    await Vectors(client, dimension=4, embedding_model="small", collection=name).ensure_collection()
    await Vectors(client, dimension=4, embedding_model="small", collection=name).ensure_collection()
    other = Vectors(client, dimension=4, embedding_model="other", collection=name)
    for looked_at in (other.ensure_collection, other.verify):
        with pytest.raises(Misconfigured, match=r"vectors of small.*those of other.*memstream reindex"):
            await looked_at()
    await client.close()


async def test_a_collection_without_a_recorded_model_is_treated_as_one_of_the_original_model(
    embedded_stack: EmbeddedStack,
) -> None:
    client, name = AsyncQdrantClient(url=embedded_stack.qdrant_url), f"index-{uuid4().hex}"
    size = models.VectorParams(size=4, distance=models.Distance.COSINE)
    await client.create_collection(name, vectors_config=size)
    await Vectors(client, dimension=4, embedding_model=MINILM.name, collection=name).ensure_collection()
    with pytest.raises(Misconfigured, match="memstream reindex"):
        await Vectors(client, dimension=4, embedding_model="other", collection=name).ensure_collection()
    await client.close()


async def test_ensure_collection_raises_while_a_recreated_collection_is_incomplete(
    embedded_stack: EmbeddedStack,
) -> None:
    client, name = AsyncQdrantClient(url=embedded_stack.qdrant_url), f"index-{uuid4().hex}"
    vectors = Vectors(client, dimension=DIMENSION, embedding_model="m", collection=name)
    await vectors.ensure_collection()
    await vectors.upsert([point()])
    await vectors.recreate()
    assert await vectors.count() == 0
    with pytest.raises(Misconfigured, match=r"is incomplete.*memstream reindex"):
        await vectors.ensure_collection()
    await vectors.complete()
    await vectors.ensure_collection()
    await client.close()


@pytest.mark.parametrize("version", ["1.15.9", "0.9"])
async def test_recreate_rejects_a_qdrant_version_without_metadata_before_dropping_points(
    embedded_stack: EmbeddedStack, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    client, name = AsyncQdrantClient(url=embedded_stack.qdrant_url), f"index-{uuid4().hex}"
    vectors = Vectors(client, dimension=DIMENSION, embedding_model="m", collection=name)
    await vectors.ensure_collection()
    await vectors.upsert([point()])

    async def info() -> models.VersionInfo:
        return models.VersionInfo(title="qdrant", version=version)

    monkeypatch.setattr(client, "info", info)
    with pytest.raises(Misconfigured, match=rf"Qdrant {version}.*1\.16"):
        await vectors.recreate()
    assert await vectors.count() == 1
    await client.close()


async def test_a_missing_collection_and_a_missing_server_are_retryable(embedded_stack: EmbeddedStack) -> None:
    for url in (embedded_stack.qdrant_url, "http://127.0.0.1:1"):
        client = AsyncQdrantClient(url=url, check_compatibility=False)
        vectors = Vectors(client, dimension=4, embedding_model="m", collection="missing")
        with pytest.raises(Retryable):
            await vectors.count()
        with pytest.raises(Retryable):
            await vectors.upsert([point()])
        await client.close()


async def test_malformed_points_and_ids_raise_points_refused_and_change_nothing(embedded_stack: EmbeddedStack) -> None:
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url)
    vectors = Vectors(client, dimension=DIMENSION, embedding_model="m", collection=f"index-{uuid4().hex}")
    await vectors.ensure_collection()
    try:
        with pytest.raises(PointsRefused, match=r"Qdrant refuses 1 point\b"):
            await vectors.upsert([point(vector=np.ones(DIMENSION - 1, np.float32))])
        await vectors.upsert([good := point()])
        assert await vectors.count() == 1, good
        with pytest.raises(PointsRefused, match="Qdrant refuses to delete 2 points"):
            await vectors.delete(["no id of a point", good.memory_id])
        assert await vectors.count() == 1, good
    finally:
        await vectors.drop_collection()
        await client.close()
