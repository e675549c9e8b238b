"""Search over PostgreSQL, Qdrant and the model that ships."""

from collections.abc import AsyncIterator
from contextlib import closing
from uuid import uuid4

import pytest
from msgspec.structs import replace
from qdrant_client import AsyncQdrantClient

from agents.retrieval.search import Retrieval
from deploy.embedded.stack import EmbeddedStack
from deploy.wiring.search import retrieval as searching
from schemas.errors import Retryable
from schemas.retrieval.searches import Filters, Query
from sinks.embeddings.onnx import MiniLmEmbedder
from sinks.postgres.connection import Pool
from sinks.vectors.qdrant import Vectors
from tests.memories import a_memory
from tests.storing import remember, store

TEXTS = (
    "User is allergic to peanuts.",
    "User has a Labrador called Bruno.",
    "User works as a data engineer at Freightwise.",
    "User prefers short recipes.",
)


@pytest.fixture
async def vectors(embedded_stack: EmbeddedStack) -> AsyncIterator[Vectors]:
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    made = Vectors(
        client,
        dimension=MiniLmEmbedder.dimension,
        embedding_model=MiniLmEmbedder.model,
        collection=f"search-{uuid4().hex}",
    )
    await made.ensure_collection()
    yield made
    await made.drop_collection()
    await client.close()


@pytest.fixture
async def retrieval(pool: Pool, vectors: Vectors) -> AsyncIterator[Retrieval]:
    memories = [a_memory(text, memory_id=str(uuid4())) for text in TEXTS]
    with closing(MiniLmEmbedder()) as embedder:
        await remember(pool, memories, embedder, vectors)
        yield searching(pool, embedder, vectors)


async def found(retrieval: Retrieval, text: str, **filters: object) -> list[str]:
    asked = Query(namespaces=("n",), text=text, filters=Filters(**filters))  # type: ignore[arg-type]
    return [hit.memory.text for hit in (await retrieval.search(asked)).hits]


@pytest.mark.parametrize(
    "text, answer",
    [
        ("what may they not eat?", "User is allergic to peanuts."),
        ("name of the dog", "User has a Labrador called Bruno."),
        ("freightwise", "User works as a data engineer at Freightwise."),
    ],
)
async def test_a_question_finds_its_answer_first(retrieval: Retrieval, text: str, answer: str) -> None:
    assert (await found(retrieval, text))[0] == answer


async def test_a_question_that_has_to_do_with_nothing_finds_nothing(retrieval: Retrieval) -> None:
    for text in ("explain quantum entanglement", "who painted the Mona Lisa", "thank you, that helps a lot!"):
        assert await found(retrieval, text) == []


async def test_what_qdrant_still_holds_of_a_deleted_memory_is_not_found(
    retrieval: Retrieval, pool: Pool, vectors: Vectors
) -> None:
    asked = Query(namespaces=("n",), text="peanuts")
    (hit,) = (await retrieval.search(asked)).hits
    await store(pool, [replace(hit.memory, status="deleted", text="", version=2)])
    assert await vectors.count() == len(TEXTS)
    assert (await retrieval.search(asked)).hits == ()


async def test_of_an_erased_namespace_nothing_is_found(retrieval: Retrieval, pool: Pool) -> None:
    await pool.execute("DELETE FROM memories WHERE namespace = 'n'")
    for text in ("peanuts", None):
        assert (await retrieval.search(Query(namespaces=("n",), text=text))).hits == ()


async def test_without_qdrant_the_words_and_the_vectors_of_postgres_answer(pool: Pool, retrieval: Retrieval) -> None:
    client = AsyncQdrantClient(url="http://127.0.0.1:1", check_compatibility=False)
    with closing(MiniLmEmbedder()) as embedder:
        away = Vectors(client, dimension=embedder.dimension, embedding_model=embedder.model)
        answer = await searching(pool, embedder, away).search(
            Query(namespaces=("n",), text="allergic to peanuts?", explain=True)
        )
    assert answer.degraded == ("vectors_failed",)
    assert answer.hits[0].memory.text == "User is allergic to peanuts."
    assert answer.hits[0].parts is not None
    assert answer.hits[0].parts.cosine == pytest.approx(0.9, abs=0.1)
    await client.close()


async def test_without_postgres_a_search_is_retryable(retrieval: Retrieval, pool: Pool) -> None:
    pool.terminate()
    with pytest.raises(Retryable):
        await found(retrieval, "peanuts")
