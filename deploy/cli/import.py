"""`memstream import`: imports memories from JSON Lines, one command to the curator per line."""

import getpass
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, BinaryIO
from uuid import uuid4

import typer

from agents.api.http.line_splitter import split_lines
from agents.api.memories.commands import Commands, command_record
from agents.api.memories.import_progress import progress_steps
from agents.api.memories.imports import Import, ImportReport
from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.cli.namespace_options import NamespaceArgument, NamespaceOption, one_namespace
from deploy.settings import load
from deploy.wiring import connections
from schemas.counts import counted
from schemas.errors import Misconfigured
from schemas.memories.commands import Command
from sinks.memories.command_results import CommandResults

cli = one_command()

CHUNK_BYTES = 65_536  # bytes read at a time


@cli.command("import")
@command
async def import_memories(
    namespace: NamespaceArgument = None,
    file: Annotated[Path | None, typer.Argument(help="JSON Lines as written by `export`; default: stdin.")] = None,
    import_id: Annotated[
        str | None, typer.Option(help="Id of this import. Repeating an import with its id applies each line once.")
    ] = None,
    wait: Annotated[
        bool,
        typer.Option("--wait", help="Wait until the memories are stored; print progress on stderr. Needs PostgreSQL."),
    ] = False,
    namespace_option: NamespaceOption = None,
    json: Json = False,
) -> int:
    """Import memories from JSON Lines. Existing memories with the same id or text stay unchanged."""
    if namespace_option is not None and file is None:  # then an argument is the file
        namespace, file = None, Path(namespace) if namespace is not None else None
    name = one_namespace(namespace, namespace_option)
    with ExitStack() as opened:
        try:
            source = opened.enter_context(file.open("rb")) if file else sys.stdin.buffer
        except OSError as exc:
            raise Misconfigured(f"cannot read {file}: {exc.strerror}") from exc
        report = await run_import(name, import_id or uuid4().hex, source, wait)
    if json:
        terminal.print_json(report)
    else:
        for problem in report.problems:
            terminal.print_error(f"line {problem.line}: {problem.reason}")
        terminal.print_line(
            f"{report.accepted:,} of {counted(report.lines, 'memories')} sent to {name}, {report.skipped:,} skipped as not live, "
            f"{report.rejected:,} invalid (import id {report.import_id})"
        )
    return 1 if report.rejected else 0


async def run_import(namespace: str, import_id: str, source: BinaryIO, wait: bool) -> ImportReport:
    settings = load()
    async with connections.kafka(settings) as publisher:

        async def send(commands: Sequence[Command]) -> None:
            await publisher.publish([command_record(each) for each in commands])

        run = Import(namespace, import_id, getpass.getuser(), lambda: datetime.now(UTC), send)
        if not wait:
            return await run.run(split_lines(chunks(source)))
        async with connections.postgres(settings) as pool:
            return await wait_until_stored(run, source, Commands(publisher, CommandResults(pool)))


async def wait_until_stored(run: Import, source: BinaryIO, commands: Commands) -> ImportReport:
    """Waits until the curator has applied the commands, and returns the report."""
    async with aclosing(progress_steps(run, split_lines(chunks(source)), commands.settled)) as steps:
        async for step in steps:
            if isinstance(step, ImportReport):
                return step
            terminal.print_error(
                f"{counted(step.lines, 'lines')} read, {step.carried_out:,} of {counted(step.accepted, 'memories')} stored"
            )
    raise AssertionError("progress_steps ends with the report unless the import is abandoned")


async def chunks(source: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := source.read(CHUNK_BYTES):
        yield chunk
