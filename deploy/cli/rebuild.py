"""`memstream rebuild`: rebuilds PostgreSQL's memories from Kafka."""

from typing import Annotated

import typer

from deploy.cli import terminal
from deploy.cli.command import Json, command, one_command
from deploy.settings import load
from deploy.wiring.rebuild import rebuild as rebuild_from_kafka
from schemas.counts import counted

cli = one_command()

OntoBackup = Annotated[
    bool, typer.Option("--onto-backup", help="The database is a restored backup: add the changes that Kafka has.")
]


@cli.command()
@command
async def rebuild(onto_backup: OntoBackup = False, json: Json = False) -> None:
    """Rebuild PostgreSQL's memories from memory.state and memory.events, then Qdrant. Stop workers first."""
    rebuilt = await rebuild_from_kafka(load(), onto_backup=onto_backup, say=terminal.print_error)
    if json:
        terminal.print_json(rebuilt)
    else:
        terminal.print_line(
            f"{counted(rebuilt.memories, 'memories')} in {counted(rebuilt.namespaces, 'namespaces')} with "
            f"{counted(rebuilt.versions, 'versions')}, from "
            f"{counted(rebuilt.records, 'records')} "
            f"({rebuilt.unreadable:,} of them unreadable); {rebuilt.index.written:,} are in Qdrant"
        )
