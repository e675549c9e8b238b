"""`memstream reindex`: Qdrant anew, from PostgreSQL."""

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import Settings, load
from deploy.wiring import connections, vector_index
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
    await vector_index.refuse_by_topic(settings)
    async with (
        connections.postgres(settings, max_size=4) as pool,
        vector_index.embedder(settings) as embedder,
        vector_index.qdrant(settings, embedder) as vectors,
    ):
        if await Memories(pool).any_embedded_otherwise(vectors.embedding_model):
            await refuse_beside_curators(settings)
        rebuilt = await rebuild(pool, vectors, embedder)
    if json:
        terminal.print_json(rebuilt)
    else:
        terminal.print_line(
            f"{rebuilt.written:,} points written, {rebuilt.removed:,} removed, {rebuilt.left_out:,} memories left out"
        )


async def refuse_beside_curators(settings: Settings) -> None:
    """What they remember meanwhile would have vectors of the model before, and be found by nobody. Raises Retryable as well."""
    group = settings.topics().group("curation")
    if await ConsumerGroups(settings.cluster().client()).with_members([group]):
        raise Misconfigured(
            f"memories are to be embedded by another model, and workers in {group} go on with the one before: stop them first"
        )
