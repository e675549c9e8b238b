"""`memstream reindex`: Qdrant anew, from PostgreSQL."""

from msgspec import structs

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.policy_store import applying, stored
from deploy.settings import Settings, load
from deploy.wiring import connections, passages, vector_index
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
        vector_index.embedders(settings) as embedders,
        vector_index.qdrant(settings, await embedders.of_memories()) as vectors,
    ):
        if await Memories(pool).any_embedded_otherwise(vectors.embedding_model):
            await refuse_beside_workers(settings)
        rebuilt = await rebuild(pool, vectors, await embedders.of_memories())
        policies = applying(settings, await stored(settings))
        said = await passages.reindex(settings, pool, await embedders.of_passages(), policies, terminal.print_error)
    if json:
        terminal.print_json(structs.asdict(rebuilt) | {"passages": said})
        return
    terminal.print_line(
        f"{rebuilt.written:,} points written, {rebuilt.removed:,} removed, {rebuilt.left_out:,} memories left out"
    )
    terminal.print_line(
        f"passages: {said.written:,} points written, {said.removed:,} removed, {said.replaced:,} messages indexed anew"
    )


async def refuse_beside_workers(settings: Settings) -> None:
    """What they remember and index meanwhile would have vectors of the model before, and be found by nobody. Raises Retryable as
    well."""
    groups = [settings.topics().group(stage) for stage in ("curation", "passages")]
    if working := await ConsumerGroups(settings.cluster().client()).with_members(groups):
        raise Misconfigured(
            f"everything is to be embedded by another model, and workers in {', '.join(working)} go on with the one before: stop "
            "them first"
        )
