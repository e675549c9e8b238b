"""Search over the adapters that a process has open, and the index it may ask."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial

from agents.policies.reader import CurrentPolicies
from agents.retrieval.search import Retrieval
from deploy.settings import Settings
from deploy.wiring import vector_index
from schemas.errors import Retryable
from sinks.embeddings.cache import Remembering
from sinks.embeddings.port import Embedder
from sinks.memories.lexical import FullText
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool
from sinks.vectors.port import VectorIndex
from sinks.vectors.qdrant import Vectors


def retrieval(pool: Pool, embedder: Embedder, vectors: VectorIndex) -> Retrieval:
    return Retrieval(Remembering(embedder), vectors, FullText(pool), Memories(pool), clock=lambda: datetime.now(UTC))


@asynccontextmanager
async def index(settings: Settings, embedder: Embedder) -> AsyncIterator[Vectors]:
    """The vector index, to be searched. While Qdrant is down words are. Raises Misconfigured for one of another model."""
    async with vector_index.qdrant(settings, embedder) as vectors:
        with suppress(Retryable):
            await vectors.verify()
        yield vectors


async def searchable(
    settings: Settings, policies: CurrentPolicies, resources: AsyncExitStack
) -> tuple[Embedder, Vectors]:
    """Who embeds questions, and the index. A policy that forbids to send texts ends the process, whenever it comes."""
    keep_texts_here = partial(vector_index.refuse_if_texts_must_stay, settings)
    keep_texts_here(policies.now)
    policies.tell(keep_texts_here)
    embedder = await resources.enter_async_context(vector_index.embedder(settings))
    return embedder, await resources.enter_async_context(index(settings, embedder))
