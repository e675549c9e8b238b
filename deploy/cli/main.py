"""The command line: one module per command, loaded on demand. Exit codes: 0 success, 1 failure, 2 wrong usage."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

# The command NAME is `cli` of deploy/cli/NAME.py, with _ for -. Each text is the help of the command's own module, repeated here
# so that listing commands does not import the clients of Kafka, Qdrant and the models, which takes seconds.
COMMANDS = {
    "demo": "Start all components, process the sample conversations, show the memories, stop all components.",
    "dev": "Run the embedded stack with a worker and the API. Its data survives a restart.",
    "worker": "Run the stages of the pipeline until SIGTERM.",
    "serve": "Run the HTTP API until SIGTERM. Any number of API processes may run side by side.",
    "migrate": "Bring PostgreSQL's schema up to date.",
    "publish": "Publish events from a file, as a chat service would.",
    "search": "Search memories and passages of messages by a question.",
    "profile": "Show the profile of a namespace: the memories that belong in every prompt.",
    "mcp": "Serve the memory tools over MCP (Model Context Protocol) on standard input and output.",
    "events": "Print memory events, one per line.",
    "erase": "Erase a user, a conversation, a namespace or a memory everywhere, and show the receipt.",
    "export": "Write the memories of a namespace, or the data of a user, as JSON Lines.",
    "import": "Import memories from JSON Lines. Existing memories with the same id or text stay unchanged.",
    "reindex": "Rebuild Qdrant from PostgreSQL. Embeds only texts with vectors of another model. Safe while workers run.",
    "backfill": "Index archived messages that have no passages yet. Resumes if interrupted. Safe while workers run.",
    "rebuild": "Rebuild PostgreSQL's memories from memory.state and memory.events, then Qdrant. Stop workers first.",
    "replay": "Extract archived messages again, with other policies or another model, beside the live memories.",
    "diff": "Show what a generation would add, remove and change, with the source messages. Changes nothing.",
    "cutover": "Replace live memories by a generation's; `--undo` restores them.",
    "generations": "List and discard generations, the results of replays.",
    "doctor": "Check every dependency and print remedies. Exit code 1 if a check fails.",
    "settings": "List the environment variables that memstream reads, in groups, with their defaults.",
    "usage": "Show the usage of model calls by operation, lane and model, and the remaining budget.",
    "consolidate": "Extract waiting messages now: all, or those that the options select.",
    "runs": "Show consolidation runs: scope, progress, results.",
    "retention": "Delete old consolidated messages from the archive, as workers do every day.",
    "keys": "Manage the API's keys and their rights in namespaces.",
    "topics": "Create and list memstream's topics.",
    "schemas": "Register memstream's JSON Schemas.",
    "window": "Show, flush, prune, clear or restore a conversation's context window, mark messages, choose settings.",
    "dead-letters": "List, show, replay or discard records that memstream could not process.",
    "policies": "Manage policies as YAML files.",
}


class Commands(TyperGroup):
    """Lists the commands without importing their modules, and imports the one that is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and listed else None, rest


def load_command(name: str) -> Any:
    """Imports a command's module and returns the command."""
    with without_garbage_collection():
        module = import_module(f"deploy.cli.{name.replace('-', '_')}")
    return get_command(module.cli)


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disables garbage collection during imports, which it would slow down by a fifth."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# Typer's tracebacks may show values of variables; Python's do not.
cli = typer.Typer(
    name="memstream",
    help="Long-term memory for chat systems on Kafka.",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def print_version(value: bool) -> None:
    if value:
        typer.echo(f"memstream {version('memstream')}")
        raise typer.Exit


@cli.callback()
def memstream(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options common to all commands."""


def main() -> None:
    """The `memstream` command."""
    try:
        "".join(sys.argv).encode()
    except UnicodeEncodeError:
        typer.echo("memstream: an argument is not UTF-8: check the encoding of the terminal or of the script", err=True)
        sys.exit(2)
    cli()


if __name__ == "__main__":
    main()
