"""Search over the adapters that a process has open, and the index it may ask."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from agents.policies.reader import CurrentPolicies
from agents.retrieval.said import SaidSearch
from agents.retrieval.said_ranking import cosine_scale
from agents.retrieval.search import Retrieval
from agents.retrieval.tiers import Tiers
from deploy.settings import Settings
from deploy.wiring import rerankers, vector_index
from schemas.errors import Retryable
from schemas.policies.policies import Policies, PolicySelector
from sinks.embeddings.cache import Remembering
from sinks.embeddings.port import Embedder
from sinks.memories.lexical import FullText
from sinks.memories.reader import Memories
from sinks.passages.store import Passages
from sinks.passages.vectors import PassageVectors
from sinks.postgres.connection import Pool
from sinks.vectors.qdrant import Vectors


class Index(NamedTuple):
    """The vector indexes of both tiers, and who embeds for each."""

    memories: Vectors
    passages: PassageVectors
    memory_embedder: Embedder
    passage_embedder: Embedder


def retrieval(pool: Pool, index: Index, policies: PolicySelector) -> Tiers:
    """Search over memories and over what was said."""
    of_memories = of_passages = Remembering(index.memory_embedder)
    if index.passage_embedder is not index.memory_embedder:
        of_passages = Remembering(index.passage_embedder)
    memories = Retrieval(of_memories, index.memories, FullText(pool), Memories(pool), clock=now)
    said = SaidSearch(of_passages, index.passages, Passages(pool), policies)
    return Tiers(memories, said, now, cosine_scale(of_memories.model))


def now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def index(settings: Settings) -> AsyncIterator[Index]:
    """The vector indexes, to be searched. While Qdrant is down words are. Raises Misconfigured for one of another model, and what
    opening an embedder raises."""
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


def refuse_if_texts_must_stay(settings: Settings, policies: Policies) -> None:
    """Raises Misconfigured where a policy forbids to send texts, and the embedder or the reranker would."""
    vector_index.refuse_if_texts_must_stay(settings, policies)
    rerankers.refuse_if_texts_must_stay(settings, policies)


async def refuse_by_topic(settings: Settings) -> None:
    """The same by the policies on their topic, for commands, which do not follow it. Raises Retryable as well."""
    await vector_index.refuse_by_topic(settings)
    await rerankers.refuse_by_topic(settings)


async def searchable(settings: Settings, policies: CurrentPolicies, resources: AsyncExitStack) -> Index:
    """The indexes. A policy that forbids to send texts ends the process, whenever it comes."""
    keep_texts_here = partial(refuse_if_texts_must_stay, settings)
    keep_texts_here(policies.now)
    policies.add_listener(keep_texts_here)
    return await resources.enter_async_context(index(settings))
