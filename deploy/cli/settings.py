"""`memstream settings`: lists the environment variables."""

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import SettingRow, tables

cli = one_command()


@cli.command()
@command
async def settings(json: Json = False) -> None:
    """List the environment variables that memstream reads, in groups, with their defaults."""
    if not json:
        longest = max(
            len(row.variable) for rows in tables().values() for row in rows
        )  # variable names must not fold, so that they can be copied
        terminal.show_groups("settings", SettingRow._fields, tables(), wide="meaning", max_characters=longest)
        return
    for group, rows in tables().items():
        for row in rows:
            terminal.print_json({"group": group, "name": row.variable, "default": row.default, "meaning": row.meaning})
