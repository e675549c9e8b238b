"""`memstream export`: writes the memories of a namespace as JSON Lines."""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from agents.api.memories.exports import export_pages
from deploy.cli import terminal
from deploy.cli.command import command, one_command
from deploy.cli.namespace_options import NamespaceArgument, NamespaceOption, one_namespace
from deploy.settings import load
from deploy.wiring import connections
from schemas.counts import counted
from schemas.errors import Misconfigured
from schemas.memories.memories import Status
from sinks.memories.exports import Exports

cli = one_command()

STATUSES: tuple[Status, ...] = ("active", "superseded", "expired")


@cli.command()
@command
async def export(
    namespace: NamespaceArgument = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to create; default: stdout.")] = None,
    versions: Annotated[bool, typer.Option(help="Include all versions of each memory.")] = False,
    namespace_option: NamespaceOption = None,
) -> None:
    """Write the memories of a namespace as JSON Lines: live, superseded and expired ones."""
    name, lines = one_namespace(namespace, namespace_option), 0
    with ExitStack() as opened:
        try:
            target = opened.enter_context(output.open("xb")) if output else sys.stdout.buffer
        except OSError as exc:
            raise Misconfigured(f"cannot create {output}: {exc.strerror}") from exc
        async with connections.postgres(load(), max_size=1) as pool:
            async for page in export_pages(Exports(pool), name, STATUSES, with_versions=versions):
                target.write(page)
                lines += page.count(b"\n")
        target.flush()
    terminal.print_error(f"exported {counted(lines, 'memories')} of {name}")
