"""Search over a process's open adapters and vector indexes."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import NamedTuple

from agents.policies.reader import CurrentPolicies
from agents.retrieval.passage_ranking import cosine_scale
from agents.retrieval.passage_search import PassageSearch
from agents.retrieval.search import MemorySearch, MemorySource
from agents.retrieval.tiers import Tiers
from deploy.settings import Settings
from deploy.wiring import rerankers, vector_index
from deploy.wiring.clock import now
from schemas.errors import Retryable
from schemas.policies.policies import Policies, PolicySelector
from sinks.embeddings.cache import CachedEmbedder
from sinks.embeddings.port import Embedder
from sinks.memories.lexical import FullText
from sinks.memories.reader import Memories
from sinks.passages.store import Passages
from sinks.passages.vectors import PassageVectors
from sinks.postgres.connection import Pool
from sinks.vectors.qdrant import Vectors


class Index(NamedTuple):
    """The vector indexes of both tiers, and the embedder of each."""

    memories: Vectors
    passages: PassageVectors
    memory_embedder: Embedder
    passage_embedder: Embedder


def retrieval(pool: Pool, index: Index, policies: PolicySelector, read: MemorySource | None = None) -> Tiers:
    """Search over memories and passages; `read` reads the found memories, by default from PostgreSQL."""
    of_memories = of_passages = CachedEmbedder(index.memory_embedder)
    if index.passage_embedder is not index.memory_embedder:
        of_passages = CachedEmbedder(index.passage_embedder)
    memories = MemorySearch(of_memories, index.memories, FullText(pool), read or Memories(pool), clock=now)
    passage_search = PassageSearch(of_passages, index.passages, Passages(pool), policies)
    return Tiers(memories, passage_search, now, cosine_scale(of_memories.model))


@asynccontextmanager
async def index(settings: Settings) -> AsyncIterator[Index]:
    """Opens the vector indexes. While Qdrant is down, search uses words alone. Raises Misconfigured for an index of another
    model, and the errors of opening an embedder."""
    async with AsyncExitStack() as resources:
        embedders = vector_index.Embedders(settings, resources)
        of_memories, of_passages = await embedders.of_memories(), await embedders.of_passages()
        memories = await resources.enter_async_context(vector_index.qdrant(settings, of_memories))
        passages = await resources.enter_async_context(vector_index.passage_index(settings, of_passages))
        with suppress(Retryable):
            await memories.verify()
            if await passages.exists():
                await passages.verify()
        yield Index(memories, passages, of_memories, of_passages)


def check_local_only(settings: Settings, policies: Policies) -> None:
    """Raises Misconfigured if a policy forbids to send texts and the embedder or the reranker would."""
    vector_index.check_local_only(settings, policies)
    rerankers.check_local_only(settings, policies)


async def open_indexes(settings: Settings, policies: CurrentPolicies, resources: AsyncExitStack) -> Index:
    """Opens the indexes. A later policy that forbids to send texts ends the process."""
    check = partial(check_local_only, settings)
    check(policies.now)
    policies.add_listener(check)
    return await resources.enter_async_context(index(settings))
