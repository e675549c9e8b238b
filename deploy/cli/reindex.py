"""`memstream reindex`: rebuilds Qdrant from PostgreSQL."""

from msgspec import structs

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import Settings, load
from deploy.wiring import connections, passages, vector_index
from deploy.wiring.policy_store import policies_in_effect, stored_policies
from schemas.counts import counted
from schemas.errors import Misconfigured
from sinks.memories.reader import Memories
from sinks.vectors.reindex import reindex as rebuild
from streams.kafka.consumer_groups import ConsumerGroups

cli = one_command()


@cli.command()
@command
async def reindex(json: Json = False) -> None:
    """Rebuild Qdrant from PostgreSQL. Embeds only texts with vectors of another model. Safe while workers run."""
    settings = load()
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
        passage_counts = await passages.reindex(
            settings, pool, await embedders.of_passages(), policies, terminal.print_error
        )
    if json:
        terminal.print_json(structs.asdict(rebuilt) | {"passages": passage_counts})
        return
    terminal.print_line(
        f"{counted(rebuilt.written, 'points')} written, {rebuilt.removed:,} removed, "
        f"{counted(rebuilt.left_out, 'memories')} left out"
    )
    terminal.print_line(
        f"passages: {counted(passage_counts.written, 'points')} written, {passage_counts.removed:,} removed, "
        f"{counted(passage_counts.replaced, 'messages')} indexed again"
    )


async def require_workers_stopped(settings: Settings) -> None:
    """Raises Misconfigured while workers run with another embedding model, because searches would not find the vectors that
    they write. Raises Retryable."""
    groups = [settings.topics().group(stage) for stage in ("curation", "passages")]
    if active_groups := await ConsumerGroups(settings.cluster().client()).with_members(groups):
        raise Misconfigured(
            f"workers of {', '.join(active_groups)} may use another embedding model: stop them, then run `memstream reindex` "
            "again"
        )
