"""The embedded vector server answers AsyncQdrantClient as Qdrant's own client does in local mode."""

import random
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from deploy.embedded.stack import EmbeddedStack

DIMENSION = 16
POINTS = 200
QUERIES = 150
KINDS = ["fact", "preference", "event"]
TAGS = ["work", "home", "health", "travel"]

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


def random_point(rng: random.Random, number: int) -> models.PointStruct:
    payload: dict[str, Any] = {
        "kind": rng.choice(KINDS),
        "tags": rng.sample(TAGS, rng.randint(0, 3)),
        "importance": rng.randint(0, 20) / 20,
        "uses": rng.randint(0, 5),
        "at": f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T08:00:00Z",
        "source": {"app": rng.choice(["mail", "chat"])},
    }
    if rng.random() < 0.3:
        del payload["importance"]
    name: int | str = number if rng.random() < 0.2 else str(UUID(int=rng.getrandbits(128), version=4))
    return models.PointStruct(id=name, vector=random_vector(rng), payload=payload)


def random_vector(rng: random.Random) -> list[float]:
    return [rng.gauss(0, 1) for _ in range(DIMENSION)]


def random_condition(rng: random.Random, ids: list[Any], depth: int) -> models.Condition:
    match rng.randint(0, 9 if depth else 8):
        case 0:
            return models.FieldCondition(key="kind", match=models.MatchValue(value=rng.choice(KINDS)))
        case 1:
            return models.FieldCondition(key="kind", match=models.MatchAny(any=rng.sample(KINDS, 2)))
        case 2:
            return models.FieldCondition(key="tags", match=models.MatchValue(value=rng.choice(TAGS)))
        case 3:
            return models.FieldCondition(key="tags", match=models.MatchAny(any=rng.sample(TAGS, rng.randint(1, 3))))
        case 4:
            return models.FieldCondition(key="importance", range=models.Range(gte=rng.random(), lt=rng.random() + 0.5))
        case 5:
            return models.FieldCondition(key="uses", match=models.MatchAny(any=[0, rng.randint(1, 5)]))
        case 6:
            moment = f"2026-{rng.randint(1, 12):02}-15T00:00:00Z"
            bound = models.DatetimeRange(lte=moment) if rng.random() < 0.5 else models.DatetimeRange(gt=moment)
            return models.FieldCondition(key="at", range=bound)
        case 7:
            return models.FieldCondition(key="source.app", match=models.MatchValue(value="mail"))
        case 8:
            return models.HasIdCondition(has_id=rng.sample(ids, 60))
        case _:
            return random_filter(rng, ids, depth - 1)


def random_filter(rng: random.Random, ids: list[Any], depth: int = 1) -> models.Filter:
    def clause() -> list[models.Condition] | None:
        return [random_condition(rng, ids, depth) for _ in range(rng.randint(1, 2))] if rng.random() < 0.5 else None

    return models.Filter(must=clause(), must_not=clause(), should=clause())


def connected(stack: EmbeddedStack) -> AsyncQdrantClient:
    # The version check runs on a thread that outlives short tests; it has a test of its own.
    return AsyncQdrantClient(url=stack.qdrant_url, timeout=30, check_compatibility=False)


async def prepare(client: AsyncQdrantClient, name: str, points: list[models.PointStruct]) -> None:
    vectors = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
    assert await client.create_collection(name, vectors)
    for field, schema in (("kind", "keyword"), ("tags", "keyword"), ("importance", "float"), ("at", "datetime")):
        await client.create_payload_index(name, field, models.PayloadSchemaType(schema))
    if points:
        await client.upsert(name, points, wait=True)


@pytest.fixture(params=["embedded", "local mode"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[AsyncQdrantClient]:
    if request.param == "embedded":
        stack: EmbeddedStack = request.getfixturevalue("embedded_stack")
        client = connected(stack)
    else:
        client = AsyncQdrantClient(":memory:")
    yield client
    await client.close()


@pytest.fixture
async def both(embedded_stack: EmbeddedStack) -> AsyncIterator[tuple[AsyncQdrantClient, AsyncQdrantClient]]:
    embedded, local = connected(embedded_stack), AsyncQdrantClient(":memory:")
    yield embedded, local
    await embedded.close()
    await local.close()


@pytest.fixture
async def filled(client: AsyncQdrantClient) -> tuple[AsyncQdrantClient, str, list[models.PointStruct]]:
    name = f"test-{uuid4()}"
    rng = random.Random(1)
    points = [random_point(rng, number) for number in range(30)]
    await prepare(client, name, points)
    return client, name, points


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_filtered_queries_return_the_same_points_as_local_mode(
    both: tuple[AsyncQdrantClient, AsyncQdrantClient], seed: int
):
    embedded, local = both
    rng = random.Random(seed)
    points = [random_point(rng, number) for number in range(POINTS)]
    name = f"random-{uuid4()}"
    for each in both:
        await prepare(each, name, points)
    answered = 0
    for _ in range(QUERIES):
        body: dict[str, Any] = {
            "query": random_vector(rng),
            "query_filter": random_filter(rng, [point.id for point in points]),
            "limit": rng.randint(1, 20),
            "offset": rng.randint(0, 3),
            "score_threshold": rng.choice([None, None, 0.1]),
            "with_payload": rng.choice([True, False, ["kind", "tags"]]),
            "with_vectors": rng.choice([True, False]),
        }
        mine, theirs = [(await each.query_points(name, **body)).points for each in (embedded, local)]
        assert [point.id for point in mine] == [point.id for point in theirs], body
        assert [point.payload or None for point in mine] == [point.payload or None for point in theirs], body
        assert [point.score for point in mine] == pytest.approx([point.score for point in theirs], abs=1e-5)
        for one, other in zip(mine, theirs, strict=True):
            assert one.vector == pytest.approx(other.vector, abs=1e-5)
        counts = [await each.count(name, count_filter=body["query_filter"]) for each in both]
        assert counts[0] == counts[1], body
        answered += bool(mine)
    assert answered > QUERIES / 3  # else the filters let too little through to prove anything


async def test_scrolling_pages_through_every_match_once(filled: tuple[AsyncQdrantClient, str, list[Any]]):
    client, name, points = filled
    condition = models.FieldCondition(key="kind", match=models.MatchValue(value="fact"))
    seen, offset, pages = [], None, 0
    while True:
        page, offset = await client.scroll(name, models.Filter(must=[condition]), limit=3, offset=offset)
        seen += [point.id for point in page]
        pages += 1
        if offset is None:
            break
    assert sorted(map(str, seen)) == sorted(str(point.id) for point in points if point.payload["kind"] == "fact")
    assert pages > 1


async def test_retrieve_omits_points_that_do_not_exist(filled: tuple[AsyncQdrantClient, str, list[Any]]):
    client, name, points = filled
    found = await client.retrieve(name, [points[0].id, 10**9], with_vectors=True)
    assert [(point.id, point.payload) for point in found] == [(points[0].id, points[0].payload)]
    assert len(found[0].vector) == DIMENSION


async def test_an_upsert_replaces_the_whole_point(filled: tuple[AsyncQdrantClient, str, list[Any]]):
    client, name, points = filled
    done = await client.upsert(name, [models.PointStruct(id=points[0].id, vector=[1.0] * 16, payload={"kind": "new"})])
    assert done.status == models.UpdateStatus.COMPLETED
    assert (await client.retrieve(name, [points[0].id]))[0].payload == {"kind": "new"}
    assert (await client.count(name)).count == len(points)


async def test_setting_payload_keeps_other_keys(filled: tuple[AsyncQdrantClient, str, list[Any]]):
    client, name, points = filled
    await client.set_payload(name, {"uses": 99}, points=[points[0].id])
    await client.set_payload(
        name, {"seen": "yes"}, points=models.Filter(must=[models.HasIdCondition(has_id=[points[1].id])])
    )
    first, second = [(await client.retrieve(name, [point.id]))[0].payload for point in points[:2]]
    assert first == {**points[0].payload, "uses": 99}
    assert second == {**points[1].payload, "seen": "yes"}


async def test_points_are_deleted_by_id_and_by_filter(filled: tuple[AsyncQdrantClient, str, list[Any]]):
    client, name, points = filled
    await client.delete(name, [points[0].id])
    condition = models.FieldCondition(key="kind", match=models.MatchValue(value="event"))
    await client.delete(name, models.FilterSelector(filter=models.Filter(must=[condition])))
    left = [point for point in points[1:] if point.payload["kind"] != "event"]
    assert (await client.count(name)).count == len(left)
    assert await client.retrieve(name, [points[0].id]) == []


async def test_collections_are_created_described_and_deleted(client: AsyncQdrantClient):
    name = f"notes of {uuid4()}, ü"
    assert not await client.collection_exists(name)
    await prepare(client, name, [])
    assert await client.collection_exists(name)
    assert name in {each.name for each in (await client.get_collections()).collections}
    described = await client.get_collection(name)
    assert described.config.params.vectors == models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
    assert described.points_count == 0
    assert await client.delete_collection(name)
    assert not await client.collection_exists(name)


async def test_indexes_are_listed_with_their_types(embedded_stack: EmbeddedStack):
    client = connected(embedded_stack)
    await prepare(client, name := f"indexed-{uuid4()}", [])
    schema = (await client.get_collection(name)).payload_schema
    types = {field: index.data_type.value for field, index in schema.items()}
    assert types == {"kind": "keyword", "tags": "keyword", "importance": "float", "at": "datetime"}
    await client.close()


@pytest.mark.parametrize(
    ("status", "call"),
    [
        (404, lambda client, name: client.count("nowhere")),
        (404, lambda client, name: client.get_collection("nowhere")),
        (409, lambda client, name: client.create_collection(name, models.VectorParams(size=4, distance="Cosine"))),
        (400, lambda client, name: client.create_collection("a:b", models.VectorParams(size=4, distance="Cosine"))),
        (400, lambda client, name: client.upsert(name, [models.PointStruct(id=1, vector=[1.0])])),
        (400, lambda client, name: client.upsert(name, [models.PointStruct(id="one", vector=[1.0] * 16)])),
        (400, lambda client, name: client.upsert(name, [])),
        (400, lambda client, name: client.delete(name, [])),
        (400, lambda client, name: client.query_points(name, [1.0, 2.0])),
        (501, lambda client, name: client.query_points(name, 1)),
        (501, lambda client, name: client.scroll(name, order_by="uses")),
        (501, lambda client, name: client.facet(name, "kind")),
        (501, lambda client, name: client.get_aliases()),
        (501, lambda client, name: client.overwrite_payload(name, {}, [1])),
    ],
)
async def test_error_responses_have_the_status_and_shape_of_qdrant(
    embedded_stack: EmbeddedStack, status: int, call: Any
):
    client = connected(embedded_stack)
    await prepare(client, name := f"refusing-{uuid4()}", [])
    with pytest.raises(UnexpectedResponse) as caught:
        await call(client, name)
    assert caught.value.status_code == status
    assert caught.value.structured()["status"]["error"]
    await client.close()


async def test_a_collection_keeps_its_metadata_and_changes_are_merged_into_it(client: AsyncQdrantClient):
    name = f"test-{uuid4()}"
    vectors = models.VectorParams(size=DIMENSION, distance=models.Distance.COSINE)
    await client.create_collection(name, vectors, metadata={"embedding_model": "m", "parts": [1, {"a": None}]})
    assert (await client.get_collection(name)).config.metadata == {"embedding_model": "m", "parts": [1, {"a": None}]}
    await client.update_collection(name, metadata={"reindexing": True})
    held = (await client.get_collection(name)).config.metadata
    assert held == {"embedding_model": "m", "parts": [1, {"a": None}], "reindexing": True}
