"""Conversations whose memories are replayed."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from qdrant_client import AsyncQdrantClient

from deploy.embedded.stack import EmbeddedStack
from sinks.postgres.connection import Pool
from sinks.vectors.qdrant import Vectors
from tests.fakes.embedder import FakeEmbedder
from tests.integration.replay.replaying import Town


@pytest.fixture
async def vectors(embedded_stack: EmbeddedStack) -> AsyncIterator[Vectors]:
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    embedder = FakeEmbedder()
    made = Vectors(
        client, dimension=embedder.dimension, embedding_model=embedder.model, collection=f"replay-{uuid4().hex}"
    )
    await made.ensure_collection()
    yield made
    await made.drop_collection()
    await client.close()


@pytest.fixture
def town(pool: Pool, vectors: Vectors) -> Town:
    return Town(pool, vectors)
