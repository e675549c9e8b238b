"""Builds the embedder and the vector indexes from the settings."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from typing import TypeVar

import httpx
from qdrant_client import AsyncQdrantClient

from agents.models.local_only import refuse_local_only
from agents.policies.reader import policies_from
from deploy.embedded.embedding_models import opened_model
from deploy.settings import Settings
from deploy.wiring.connections import policy_topic
from schemas.addresses import is_loopback
from schemas.policies.policies import Policies
from sinks.embeddings.endpoint import Endpoint
from sinks.embeddings.port import Embedder
from sinks.embeddings.protocols import Dialect, OllamaDialect, OpenAiDialect
from sinks.embeddings.remote import RemoteEmbedder
from sinks.passages.vectors import SUFFIX, PassageVectors
from sinks.vectors.qdrant_direct import DirectVectors

Index = TypeVar("Index", bound=DirectVectors)

OLLAMA_URL = "http://127.0.0.1:11434"
DIALECTS: dict[str, type[Dialect]] = {"ollama": OllamaDialect, "openai": OpenAiDialect}


class Embedders:
    """The embedders of memories and passages: one instance if both use one model. Each is opened on first use and closed
    with `resources`. Raises as `embedder` does."""

    def __init__(self, settings: Settings, resources: AsyncExitStack) -> None:
        self._settings = settings
        self._resources = resources
        self._opened: dict[str, Embedder] = {}

    async def of_memories(self) -> Embedder:
        return await self._of(self._settings.embedding_model)

    async def of_passages(self) -> Embedder:
        return await self._of(self._settings.passage_embedding_model)

    async def _of(self, model: str) -> Embedder:
        if model not in self._opened:
            self._opened[model] = await self._resources.enter_async_context(embedder(self._settings, model))
        return self._opened[model]


@asynccontextmanager
async def embedders(settings: Settings) -> AsyncIterator[Embedders]:
    async with AsyncExitStack() as resources:
        yield Embedders(settings, resources)


@asynccontextmanager
async def embedder(settings: Settings, model: str) -> AsyncIterator[Embedder]:
    """The embedder. Raises Retryable while its endpoint does not answer, Misconfigured for a wrong endpoint or policies that
    forbid it, and EmbeddedPartFailed when a local model cannot be downloaded."""
    if settings.embedder == "onnx":
        with closing(await asyncio.to_thread(opened_model, model, settings.cache)) as own:
            yield own
        return
    check_local_only(settings, settings.policies())
    dialect = DIALECTS[settings.embedder]()
    key = settings.embedder_api_key.get_secret_value() if settings.embedder_api_key else None
    async with aclosing(Endpoint(settings.embedder_base_url or OLLAMA_URL, key)) as endpoint:
        yield await RemoteEmbedder.connect(endpoint, dialect, model, settings.embedder_dimension)


def check_local_only(settings: Settings, policies: Policies) -> None:
    """Raises Misconfigured if any policy forbids to send texts and the embedder would: one embedder serves all policies."""
    if embeds_remotely(settings):
        remedy = "choose MEMSTREAM_EMBEDDER=onnx, or a server and a model on this machine"
        refuse_local_only(policies, f"MEMSTREAM_EMBEDDER={settings.embedder}", remedy)


async def check_local_only_by_topic(settings: Settings) -> None:
    """`check_local_only` with the policies of the topic, for commands, which do not follow it. Also raises Retryable."""
    if embeds_remotely(settings):
        async with policy_topic(settings) as topic:
            check_local_only(settings, policies_from(await topic.to_end()))


def embeds_remotely(settings: Settings) -> bool:
    if settings.embedder == "onnx":
        return False
    dialect = DIALECTS[settings.embedder]()
    cloud_model = any(map(dialect.runs_remotely, (settings.embedding_model, settings.passage_embedding_model)))
    return cloud_model or not is_loopback(settings.embedder_base_url or OLLAMA_URL)


@asynccontextmanager
async def qdrant(settings: Settings, embedder: Embedder) -> AsyncIterator[DirectVectors]:
    """The vector index of memories; the collection is not checked yet."""
    async with open_index(settings, embedder, DirectVectors, settings.qdrant_collection) as vectors:
        yield vectors


@asynccontextmanager
async def passage_index(settings: Settings, embedder: Embedder) -> AsyncIterator[PassageVectors]:
    """The vector index of passages; the collection is not checked yet."""
    async with open_index(settings, embedder, PassageVectors, settings.qdrant_collection + SUFFIX) as vectors:
        yield vectors


@asynccontextmanager
async def open_index(
    settings: Settings, embedder: Embedder, kind: type[Index], collection: str
) -> AsyncIterator[Index]:
    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
    # By default the client opens a new connection for each request to this machine.
    kept = httpx.Limits(max_connections=100, max_keepalive_connections=20)
    client = AsyncQdrantClient(url=settings.qdrant_url, api_key=key, timeout=30, check_compatibility=False, limits=kept)
    try:
        vectors = kind(
            client, api_key=key, dimension=embedder.dimension, embedding_model=embedder.model, collection=collection
        )
        async with aclosing(vectors):
            yield vectors
    finally:
        await client.close()
