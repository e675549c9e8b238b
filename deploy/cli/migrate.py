"""`memstream migrate`: applies PostgreSQL migrations."""

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from sinks.postgres import migrate as migrations

cli = one_command()


@cli.command()
@command
async def migrate(json: Json = False) -> None:
    """Bring PostgreSQL's schema up to date."""
    applied = await migrations.migrate(load().postgres_dsn.get_secret_value())
    if json:
        terminal.print_json({"applied": applied})
    else:
        terminal.print_line("\n".join(f"applied {name}" for name in applied) or "nothing to apply")
