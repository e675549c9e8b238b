"""`memstream settings`: the environment variables."""

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import Row, tables

cli = one_command()


@cli.command()
@command
async def settings(json: Json = False) -> None:
    """List the environment variables that memstream reads, in groups, with defaults."""
    if not json:
        longest = max(
            len(row.variable) for rows in tables().values() for row in rows
        )  # so that a variable can be copied
        terminal.show_groups("settings", Row._fields, tables(), wide="meaning", widest=longest)
        return
    for group, rows in tables().items():
        for row in rows:
            terminal.print_json({"group": group, "name": row.variable, "default": row.default, "meaning": row.meaning})
