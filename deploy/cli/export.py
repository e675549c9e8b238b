"""`memstream export`: writes the memories of a namespace as JSON Lines."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from agents.api.memories.exports import export_pages
from deploy.cli import terminal
from deploy.cli.command import command, one_command
from deploy.settings import load
from deploy.wiring import connections
from schemas.errors import Misconfigured
from schemas.memories.memories import Status
from sinks.memories.exports import Exports

cli = one_command()

STATUSES: tuple[Status, ...] = ("active", "superseded", "expired")


@cli.command()
@command
async def export(
    namespace: Annotated[str, typer.Argument(help="The namespace, such as app/user.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to create; default: stdout.")] = None,
    versions: Annotated[bool, typer.Option(help="Include all versions of each memory.")] = False,
) -> None:
    """Write the memories of a namespace as JSON Lines: live, superseded and expired ones."""
    lines = 0
    with ExitStack() as opened:
        try:
            target = opened.enter_context(output.open("xb")) if output else sys.stdout.buffer
        except OSError as exc:
            raise Misconfigured(f"cannot create {output}: {exc.strerror}") from exc
        async with connections.postgres(load(), max_size=1) as pool:
            async for page in export_pages(Exports(pool), namespace, STATUSES, with_versions=versions):
                target.write(page)
                lines += page.count(b"\n")
        target.flush()
    terminal.print_error(f"exported {terminal.counted(lines, 'memories')} of {namespace}")
