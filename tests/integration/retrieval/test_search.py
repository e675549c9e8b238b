"""Search over PostgreSQL, Qdrant and the packaged model."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, closing
from uuid import uuid4

import pytest
from msgspec.structs import replace
from qdrant_client import AsyncQdrantClient

from agents.retrieval.tiers import Tiers
from deploy.embedded.stack import EmbeddedStack
from deploy.wiring.search import Index
from deploy.wiring.search import retrieval as searching
from schemas.errors import Retryable
from schemas.policies.policies import Policies
from schemas.retrieval.searches import Filters, Query
from sinks.embeddings.models import MEMORY_DEFAULT, PASSAGE_DEFAULT
from sinks.embeddings.onnx import OnnxEmbedder
from sinks.passages.vectors import SUFFIX, PassageVectors
from sinks.postgres.connection import Pool
from sinks.vectors.qdrant import Vectors
from tests.builders.memories import a_memory
from tests.embedders import packaged_embedder
from tests.memory_store import remember, store

TEXTS = (
    "User is allergic to peanuts.",
    "User has a Labrador called Bruno.",
    "User works as a data engineer at Freightwise.",
    "User prefers short recipes.",
)


@asynccontextmanager
async def indexes(url: str, embedder: OnnxEmbedder, passage_embedder: OnnxEmbedder) -> AsyncIterator[Index]:
    """Collections of their own on the server at `url`, which are not made yet."""
    client = AsyncQdrantClient(url=url, check_compatibility=False)
    name = f"search-{uuid4().hex}"
    memories = Vectors(client, dimension=embedder.dimension, embedding_model=embedder.model, collection=name)
    made = PassageVectors(
        client,
        dimension=passage_embedder.dimension,
        embedding_model=passage_embedder.model,
        collection=name + SUFFIX,
    )
    async with aclosing(made) as passages:
        yield Index(memories, passages, embedder, passage_embedder)
    await client.close()


@pytest.fixture
async def index(
    embedded_stack: EmbeddedStack, embedder: OnnxEmbedder, passage_embedder: OnnxEmbedder
) -> AsyncIterator[Index]:
    """That of what was said is not there: nothing was said."""
    async with indexes(embedded_stack.qdrant_url, embedder, passage_embedder) as made:
        await made.memories.ensure_collection()
        yield made
        await made.memories.drop_collection()


@pytest.fixture
def embedder() -> Iterator[OnnxEmbedder]:
    with closing(packaged_embedder(MEMORY_DEFAULT.name)) as made:
        yield made


@pytest.fixture
def passage_embedder() -> Iterator[OnnxEmbedder]:
    with closing(packaged_embedder(PASSAGE_DEFAULT.name)) as made:
        yield made


@pytest.fixture
async def retrieval(pool: Pool, index: Index, embedder: OnnxEmbedder) -> Tiers:
    memories = [a_memory(text, memory_id=str(uuid4())) for text in TEXTS]
    await remember(pool, memories, embedder, index.memories)
    return searching(pool, index, Policies())


async def found(retrieval: Tiers, text: str, **filters: object) -> list[str]:
    query = Query(namespaces=("n",), text=text, filters=Filters(**filters))  # type: ignore[arg-type]
    return [hit.memory.text for hit in (await retrieval.search(query)).hits]


@pytest.mark.parametrize(
    "text, answer",
    [
        ("what may they not eat?", "User is allergic to peanuts."),
        ("any food allergies?", "User is allergic to peanuts."),
        ("name of the dog", "User has a Labrador called Bruno."),
        ("freightwise", "User works as a data engineer at Freightwise."),
    ],
)
async def test_a_question_ranks_its_answer_first(retrieval: Tiers, text: str, answer: str) -> None:
    assert (await found(retrieval, text))[0] == answer


async def test_an_unrelated_question_finds_nothing(retrieval: Tiers) -> None:
    for text in ("explain quantum entanglement", "who painted the Mona Lisa", "thank you, that helps a lot!"):
        assert await found(retrieval, text) == []


async def test_a_deleted_memory_still_in_qdrant_is_not_found(retrieval: Tiers, pool: Pool, index: Index) -> None:
    query = Query(namespaces=("n",), text="peanuts")
    (hit,) = (await retrieval.search(query)).hits
    await store(pool, [replace(hit.memory, status="deleted", text="", version=2)])
    assert await index.memories.count() == len(TEXTS)
    assert (await retrieval.search(query)).hits == ()


async def test_a_search_in_an_erased_namespace_finds_nothing(retrieval: Tiers, pool: Pool) -> None:
    await pool.execute("DELETE FROM memories WHERE namespace = 'n'")
    for text in ("peanuts", None):
        assert (await retrieval.search(Query(namespaces=("n",), text=text))).hits == ()


async def test_without_qdrant_a_search_uses_words_and_the_vectors_in_postgres(
    pool: Pool, retrieval: Tiers, embedder: OnnxEmbedder, passage_embedder: OnnxEmbedder
) -> None:
    async with indexes("http://127.0.0.1:1", embedder, passage_embedder) as away:
        answer = await searching(pool, away, Policies()).search(
            Query(namespaces=("n",), text="allergic to peanuts?", explain=True)
        )
    assert answer.degraded == ("vectors_failed",)
    assert answer.hits[0].memory.text == "User is allergic to peanuts."
    assert answer.hits[0].parts is not None
    assert answer.hits[0].parts.cosine == pytest.approx(0.9, abs=0.1)


async def test_without_postgres_a_search_is_retryable(retrieval: Tiers, pool: Pool) -> None:
    pool.terminate()
    with pytest.raises(Retryable):
        await found(retrieval, "peanuts")
