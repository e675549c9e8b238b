"""One run of the passage part of bench-recall measures memstream, its parts and every baseline on the same vectors."""

from collections.abc import AsyncIterator
from contextlib import aclosing, closing
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient

from deploy.embedded.stack import EmbeddedStack
from sinks.embeddings.cache import CachedEmbedder
from sinks.embeddings.models import PASSAGE_DEFAULT
from sinks.passages.vectors import PassageVectors
from sinks.postgres.connection import Pool
from sinks.vectors.qdrant import Vectors
from tests.benchmarks.recall_passage_baselines import WAYS
from tests.benchmarks.recall_passages import ALONE, PARTS, UNTRAINED, measured, setups
from tests.benchmarks.recall_stack import Store
from tests.benchmarks.recall_talks import Question, Said, Talk
from tests.embedders import packaged_embedder
from tests.fakes.embedder import FakeEmbedder

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


class NamedEmbedder(FakeEmbedder):
    """Has the scale of the passages' model."""

    model = PASSAGE_DEFAULT.name


def talk(name: str, subject: str) -> Talk:
    texts = ["Hello there.", f"I bought a {subject} in Porto.", "Lovely weather.", "See you soon."]
    said = [
        Said(f"{name}-{number}", ("ada", "ben")[number % 2], "user", MONDAY + timedelta(minutes=number), text)
        for number, text in enumerate(texts)
    ]
    question = Question(f"Who bought a {subject} in Porto?", "single", MONDAY, frozenset({f"{name}-1"}))
    return Talk(name, said, [question])


@pytest.fixture
async def store(pool: Pool, embedded_stack: EmbeddedStack) -> AsyncIterator[Store]:
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    with closing(packaged_embedder()) as embedder:
        known = {"dimension": embedder.dimension, "embedding_model": embedder.model}
        vectors = Vectors(client, collection=f"recall-{uuid4().hex[:8]}", **known)
        await vectors.ensure_collection()
        yield Store(pool, vectors, embedder, embedded_stack.qdrant_url)
        await vectors.drop_collection()
    await client.close()


async def test_every_way_is_measured_in_the_same_run(store: Store) -> None:
    client = AsyncQdrantClient(url=store.index_url, check_compatibility=False)
    embedder = CachedEmbedder(NamedEmbedder(), most=100)
    known = {"dimension": embedder.dimension, "embedding_model": embedder.model}
    talks = [talk("one", "violin"), talk("two", "kayak")]
    async with aclosing(PassageVectors(client, collection=f"recall-said-{uuid4().hex[:8]}", **known)) as vectors:
        await vectors.ensure_collection()
        figures = await measured(store, vectors, embedder, NamedEmbedder(), talks)
        await vectors.drop_collection()
    await client.close()

    baselines = {*WAYS, *(f"{way}, with neighbours" for way in WAYS)}
    ours = {*PARTS, *setups(talks[0])} - {"one namespace"} | {ALONE, UNTRAINED, "memstream, memories too"}
    assert figures["ways"].keys() == baselines | ours
    assert figures["questions"] == 2 and set(figures["search_ms"]) == {"50", "95"}
    for way, found in figures["ways"].items():
        assert set(found) == {"recall_5", "recall_10", "recall_20", "first"}, way
        assert found["recall_10"] == 1.0, f"{way}: a conversation has four messages"
    assert figures["kinds"]["single"]["questions"] == 2
    assert 0 <= figures["of_another_conversation_left_empty"] <= 1
