"""`memstream import`: memories from JSON Lines, each as a command to the curator."""

import getpass
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO
from uuid import uuid4

import typer

from agents.api.http.lines import lines
from agents.api.memories.commands import command_record
from agents.api.memories.imports import Import
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import connections
from schemas.errors import Misconfigured
from schemas.extraction.requests import Command

cli = one_command()

CHUNK = 65_536  # bytes read at a time


@cli.command("import")
@command
async def import_memories(
    namespace: Annotated[str, typer.Argument(help="The namespace that they come into.", show_default=False)],
    file: Annotated[Path | None, typer.Argument(help="JSON Lines, as `export` writes them; else stdin.")] = None,
    import_id: Annotated[
        str | None, typer.Option(help="Of this run: repeated under it, each line is carried out once.")
    ] = None,
    json: Json = False,
) -> int:
    """Bring memories in from JSON Lines. Those that are there, by their id or their text, stay as they are."""
    with ExitStack() as opened:
        try:
            source = opened.enter_context(file.open("rb")) if file else sys.stdin.buffer
        except OSError as exc:
            raise Misconfigured(f"cannot read {file}: {exc.strerror}") from exc
        async with connections.kafka(load()) as publisher:

            async def send(commands: Sequence[Command]) -> None:
                await publisher.publish([command_record(each) for each in commands])

            run = Import(namespace, import_id or uuid4().hex, getpass.getuser(), lambda: datetime.now(UTC), send)
            report = await run.run(lines(chunks(source)))
    if json:
        terminal.emit(report)
    else:
        for problem in report.problems:
            terminal.complain(f"line {problem.line}: {problem.reason}")
        terminal.say(
            f"{report.accepted:,} of {report.lines:,} memories are on their way into {namespace}, {report.skipped:,} are no "
            f"longer live, {report.rejected:,} are none (import id {report.import_id})"
        )
    return 1 if report.rejected else 0


async def chunks(source: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk
