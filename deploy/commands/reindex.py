"""`memstream reindex`: Qdrant anew, from PostgreSQL."""

from deploy import connections, indexing, terminal
from deploy.commands.command import Json, command, one_command
from deploy.settings import load
from sinks.reindex import reindex as rebuild

cli = one_command()


@cli.command()
@command
async def reindex(json: Json = False) -> None:
    """Rebuild Qdrant from PostgreSQL; only what another model embedded is embedded again. Safe beside running workers."""
    settings = load()
    await indexing.refuse_by_topic(settings)
    async with (
        connections.postgres(settings, max_size=4) as pool,
        indexing.embedder(settings) as embedder,
        indexing.qdrant(settings, embedder) as vectors,
    ):
        rebuilt = await rebuild(pool, vectors, embedder)
    if json:
        terminal.emit(rebuilt)
    else:
        terminal.say(
            f"{rebuilt.written:,} points written, {rebuilt.removed:,} removed, {rebuilt.left_out:,} memories left out"
        )
