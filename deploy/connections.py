"""Adapters picked by the settings: what workers, the command line and the demo connect to."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, closing

import tiktoken
from qdrant_client import AsyncQdrantClient

from agents.llm.auto import AutoProvider
from agents.llm.batches import ModelBatches
from agents.llm.claude import ClaudeProvider
from agents.llm.energy import Energy
from agents.llm.offline import OfflineProvider
from agents.llm.ollama import OllamaProvider, slice_room
from agents.llm.port import Provider
from agents.llm.prompts import MOST_TOKENS
from agents.policies import collected
from deploy.embedded.vocabulary import ensure_vocabulary
from deploy.settings import Settings
from schemas import topics
from schemas.addresses import is_loopback
from schemas.errors import Misconfigured
from schemas.policies import Policies
from sinks.embeddings.dialects import Dialect, OllamaDialect, OpenAiDialect
from sinks.embeddings.endpoint import Endpoint
from sinks.embeddings.onnx import MiniLmEmbedder
from sinks.embeddings.port import Embedder
from sinks.embeddings.remote import RemoteEmbedder
from sinks.postgres import Pool, connect
from sinks.qdrant import Vectors
from streams.policies import PolicyTopic
from streams.publisher import KafkaPublisher
from streams.windows.model_limits import MODEL_LIMITS_FILE, ModelLimits, decoded
from streams.windows.tokens import TokenCount, TokenCounter

OLLAMA_URL = "http://127.0.0.1:11434"
DIALECTS: dict[str, type[Dialect]] = {"ollama": OllamaDialect, "openai": OpenAiDialect}


@asynccontextmanager
async def postgres(settings: Settings, max_size: int = 10) -> AsyncIterator[Pool]:
    """A pool of connections. Raises Retryable when PostgreSQL is not there."""
    pool = await connect(settings.postgres_dsn.get_secret_value(), max_size=max_size)
    try:
        yield pool
    finally:
        await pool.close()


@asynccontextmanager
async def qdrant(settings: Settings, embedder: Embedder) -> AsyncIterator[Vectors]:
    """The vector index; its collection is not looked at yet."""
    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
    client = AsyncQdrantClient(url=settings.qdrant_url, api_key=key, timeout=30, check_compatibility=False)
    try:
        yield Vectors(
            client,
            dimension=embedder.dimension,
            embedding_model=embedder.model,
            collection=settings.qdrant_collection,
        )
    finally:
        await client.close()


def kafka(settings: Settings) -> KafkaPublisher:
    names = settings.topics()
    return KafkaPublisher(settings.cluster().client(), names.physical, names.own_message_bytes)


def policy_topic(settings: Settings) -> PolicyTopic:
    """To be used in an `async with`, as its reader is started there."""
    return PolicyTopic(settings.cluster().client(), settings.topics().physical(topics.POLICIES))


@asynccontextmanager
async def embedder(settings: Settings) -> AsyncIterator[Embedder]:
    """Raises Retryable while its endpoint does not answer, Misconfigured when it is none or policies forbid to send it texts."""
    if settings.embedder == "onnx":
        with closing(MiniLmEmbedder()) as shipped:
            yield shipped
        return
    refuse_if_texts_must_stay(settings, settings.policies())
    dialect, model = DIALECTS[settings.embedder](), settings.embedder_model or ""
    key = settings.embedder_api_key.get_secret_value() if settings.embedder_api_key else None
    async with aclosing(Endpoint(settings.embedder_base_url or OLLAMA_URL, key)) as endpoint:
        yield await RemoteEmbedder.reached(endpoint, dialect, model, settings.embedder_dimension)


def refuse_if_texts_must_stay(settings: Settings, policies: Policies) -> None:
    """One embedder serves all policies, and its texts do not say whose they are: if one policy forbids it, all do."""
    staying = next((policy.name for policy in policies.listed if policy.local_only), None)
    if staying is not None and embeds_elsewhere(settings):
        raise Misconfigured(
            f"the policy {staying!r} is local_only, and MEMSTREAM_EMBEDDER={settings.embedder} sends texts from this machine: "
            "choose MEMSTREAM_EMBEDDER=onnx, or a server and a model on this machine"
        )


async def refuse_by_topic(settings: Settings) -> None:
    """The same by the policies that were put on their topic, for commands, which do not follow it. Raises Retryable as well."""
    if embeds_elsewhere(settings):
        async with policy_topic(settings) as topic:
            refuse_if_texts_must_stay(settings, collected(await topic.to_end()))


def embeds_elsewhere(settings: Settings) -> bool:
    if settings.embedder == "onnx":
        return False
    handed_on = DIALECTS[settings.embedder]().runs_elsewhere(settings.embedder_model or "")
    return handed_on or not is_loopback(settings.embedder_base_url or OLLAMA_URL)


def provider(settings: Settings, count_tokens: TokenCount | None = None, energy: Energy | None = None) -> Provider:
    """With `count_tokens` it tells what it counted of what was billed; with `energy` it keeps within budgets.

    To be closed by the caller.
    """
    if settings.provider == "auto":
        return AutoProvider([PROVIDERS[name](settings, count_tokens, energy) for name in provider_names(settings)])
    return PROVIDERS[settings.provider](settings, count_tokens, energy)


def provider_names(settings: Settings) -> tuple[str, ...]:
    """Those that may be asked, in order."""
    return tuple(settings.provider_order.split(",")) if settings.provider == "auto" else (settings.provider,)


def models(settings: Settings) -> list[tuple[str, str]]:
    """The models that may be asked, each behind its provider's name."""
    known = {"claude": [settings.claude_model, settings.claude_compaction_model], "ollama": [settings.ollama_model]}
    return [(name, model) for name in provider_names(settings) for model in known.get(name, [])]


def offline(settings: Settings, count_tokens: TokenCount | None, energy: Energy | None) -> Provider:
    """Rules cost nothing: no budget holds them up."""
    return OfflineProvider(count_tokens) if count_tokens else OfflineProvider()


def claude(settings: Settings, count_tokens: TokenCount | None, energy: Energy | None) -> Provider:
    return ClaudeProvider(
        model=settings.claude_model,
        api_key=settings.anthropic_api_key.get_secret_value() if settings.anthropic_api_key else None,
        base_url=settings.anthropic_base_url,
        count_tokens=count_tokens,
        timeout_s=settings.claude_timeout_s,
        compaction_model=settings.claude_compaction_model,
        concurrency=settings.claude_concurrency,
        tokens_per_minute=settings.claude_tokens_per_minute,
        energy=energy,
    )


def ollama(settings: Settings, count_tokens: TokenCount | None, energy: Energy | None) -> Provider:
    return OllamaProvider(
        model=settings.ollama_model,
        base_url=settings.ollama_base_url,
        timeout_s=settings.ollama_timeout_s,
        count_tokens=count_tokens,
        concurrency=settings.ollama_concurrency,
        energy=energy,
    )


SLICE_ROOM = {"ollama": slice_room()}
PROVIDERS: dict[str, Callable[[Settings, TokenCount | None, Energy | None], Provider]] = {
    "offline": offline,
    "claude": claude,
    "ollama": ollama,
}


def most_slice_tokens(settings: Settings) -> int:
    """What every model that may be asked reads whole."""
    asked = settings.provider_order.split(",") if settings.provider == "auto" else [settings.provider]
    return min(SLICE_ROOM.get(name, MOST_TOKENS) for name in asked)


def model_batches(provider: Provider) -> ModelBatches | None:
    """The provider's batches, if it has any."""
    return provider.batches() if isinstance(provider, ClaudeProvider) else None


def token_counter(settings: Settings) -> TokenCounter:
    """tiktoken reads its vocabulary from a directory named by the environment, and would download it otherwise."""
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(ensure_vocabulary(settings.cache / "vocabulary")))
    return TokenCounter(tiktoken.get_encoding(settings.tokenizer))


def model_limits(settings: Settings) -> ModelLimits:
    """The built-in table with the settings' sizes over it. Raises Misconfigured."""
    return decoded(MODEL_LIMITS_FILE.read_bytes()).overridden(settings.model_context_tokens)
