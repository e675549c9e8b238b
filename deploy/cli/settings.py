"""`memstream settings`: the environment variables."""

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import table

cli = one_command()


@cli.command()
@command
async def settings(json: Json = False) -> None:
    """List the environment variables that memstream reads, with their defaults."""
    if json:
        for name, default, meaning in table():
            terminal.emit({"name": name, "default": default, "meaning": meaning})
        return
    terminal.show_table("settings", ("variable", "default", "meaning"), table(), wide="meaning")
