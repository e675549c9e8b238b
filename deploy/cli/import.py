"""`memstream import`: memories from JSON Lines, each as a command to the curator."""

import getpass
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO
from uuid import uuid4

import typer

from agents.api.http.lines import lines
from agents.api.memories.commands import Commands, command_record
from agents.api.memories.import_progress import followed
from agents.api.memories.imports import Import, ImportReport
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring import connections
from schemas.errors import Misconfigured
from schemas.memories.commands import Command
from sinks.memories.command_results import CommandResults

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
    wait: Annotated[
        bool, typer.Option("--wait", help="Until they are stored; tells on stderr how far it is. Needs PostgreSQL.")
    ] = False,
    json: Json = False,
) -> int:
    """Import memories from JSON Lines. Existing memories with the same id or text stay unchanged."""
    with ExitStack() as opened:
        try:
            source = opened.enter_context(file.open("rb")) if file else sys.stdin.buffer
        except OSError as exc:
            raise Misconfigured(f"cannot read {file}: {exc.strerror}") from exc
        report = await imported(namespace, import_id or uuid4().hex, source, wait)
    if json:
        terminal.print_json(report)
    else:
        for problem in report.problems:
            terminal.print_error(f"line {problem.line}: {problem.reason}")
        terminal.print_line(
            f"{report.accepted:,} of {report.lines:,} memories are on their way into {namespace}, {report.skipped:,} are no "
            f"longer live, {report.rejected:,} are none (import id {report.import_id})"
        )
    return 1 if report.rejected else 0


async def imported(namespace: str, import_id: str, source: BinaryIO, wait: bool) -> ImportReport:
    settings = load()
    async with connections.kafka(settings) as publisher:

        async def send(commands: Sequence[Command]) -> None:
            await publisher.publish([command_record(each) for each in commands])

        run = Import(namespace, import_id, getpass.getuser(), lambda: datetime.now(UTC), send)
        if not wait:
            return await run.run(lines(chunks(source)))
        async with connections.postgres(settings) as pool:
            return await stored(run, source, Commands(publisher, CommandResults(pool)))


async def stored(run: Import, source: BinaryIO, commands: Commands) -> ImportReport:
    """The report, once what it tells of is stored."""
    async with aclosing(followed(run, lines(chunks(source)), commands.settled)) as steps:
        async for step in steps:
            if isinstance(step, ImportReport):
                return step
            terminal.print_error(
                f"{step.lines:,} lines read, {step.carried_out:,} of {step.accepted:,} memories stored"
            )
    raise AssertionError("a run that is not abandoned ends with its report")


async def chunks(source: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := source.read(CHUNK):
        yield chunk
