"""Rebuilds the indexes of memories and passages from PostgreSQL."""

from collections.abc import Callable

from agents.passages.reindex import PassagesReindexed
from deploy.settings import Settings
from deploy.wiring import connections, passages, vector_index
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from schemas.errors import Misconfigured
from sinks.memories.reader import Memories
from sinks.vectors.reindex import Reindexed
from sinks.vectors.reindex import reindex as rebuild
from streams.kafka.consumer_groups import ConsumerGroups


async def reindex(settings: Settings, say: Callable[[str], object]) -> tuple[Reindexed, PassagesReindexed]:
    """Embeds only texts with vectors of another model. Raises Misconfigured while workers run with another model, and
    Retryable."""
    await vector_index.check_local_only_by_topic(settings)
    async with (
        connections.postgres(settings, max_size=4) as pool,
        vector_index.embedders(settings) as embedders,
        vector_index.qdrant(settings, await embedders.of_memories()) as vectors,
    ):
        if await Memories(pool).any_embedded_otherwise(vectors.embedding_model):
            await require_workers_stopped(settings)
        rebuilt = await rebuild(pool, vectors, await embedders.of_memories())
        policies = policies_in_effect(settings, await stored_policies(settings))
        return rebuilt, await passages.reindex(settings, pool, await embedders.of_passages(), policies, say)


async def are_of_other_models(settings: Settings) -> bool:
    """Whether an index has vectors of another model than the settings name. Raises Retryable."""
    async with (
        vector_index.embedders(settings) as embedders,
        vector_index.qdrant(settings, await embedders.of_memories()) as memories,
        vector_index.passage_index(settings, await embedders.of_passages()) as of_passages,
    ):
        for index in (memories, of_passages):
            if await index.exists() and await index.is_of_another_model():
                return True
        return False


async def require_workers_stopped(settings: Settings) -> None:
    """Raises Misconfigured while workers run with another embedding model, because searches would not find the vectors that
    they write. Raises Retryable."""
    groups = [settings.topics().group(stage) for stage in ("curation", "passages")]
    if active_groups := await ConsumerGroups(settings.cluster().client()).with_members(groups):
        raise Misconfigured(
            f"workers of {', '.join(active_groups)} may use another embedding model: stop them, then run `memstream reindex` "
            "again"
        )
