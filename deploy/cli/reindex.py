"""`memstream reindex`: rebuilds Qdrant from PostgreSQL."""

from msgspec import structs

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring.reindexing import reindex as reindex_all
from schemas.counts import counted

cli = one_command()


@cli.command()
@command
async def reindex(json: Json = False) -> None:
    """Rebuild Qdrant from PostgreSQL. Embeds only texts with vectors of another model. Safe while workers run."""
    rebuilt, passage_counts = await reindex_all(load(), terminal.print_error)
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
