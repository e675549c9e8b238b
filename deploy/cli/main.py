"""The command line: a module a command, loaded when it is called. Exit codes: 0 done, 1 cannot be done, 2 wrong usage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

# Each is `cli` of deploy/cli/<name>.py, with _ for -. What it says here is what it says of itself there: none is loaded to
# be listed, as loading Kafka's, Qdrant's and the models' clients takes seconds, which a command that needs none of them should
# not take.
COMMANDS = {
    "demo": "Start everything, publish the sample conversations, show what is remembered, stop everything.",
    "dev": "Run the embedded stack with a worker and the API, and keep it running; its data survives a restart.",
    "worker": "Run the stages of the pipeline until SIGTERM.",
    "serve": "Run the HTTP API until SIGTERM; any number of them may run side by side.",
    "migrate": "Bring PostgreSQL's schema up to date.",
    "publish": "Publish events from a file, as a chat service would.",
    "search": "Find the memories, and what was said, that have to do with a question.",
    "profile": "Show the profile of a namespace: what every prompt about it should know.",
    "mcp": "Serve the memory tools to a model's client, by the Model Context Protocol on standard input and output.",
    "events": "Print memory events, one a line.",
    "erase": "Erase a user, a conversation or a namespace everywhere, and show the receipt.",
    "export": "Write the memories of a namespace as JSON Lines, one a line: live, superseded and expired ones.",
    "import": "Import memories from JSON Lines. Existing memories with the same id or text stay unchanged.",
    "reindex": "Rebuild Qdrant from PostgreSQL. Embeds only texts with vectors of another model. Safe while workers run.",
    "backfill": "Index archived messages that have no passages yet. Resumes if interrupted. Safe while workers run.",
    "rebuild": "Rebuild PostgreSQL's memories from memory.state and memory.events, then Qdrant. Stop workers first.",
    "replay": "Extract archived messages again, with other policies or another model, beside the live memories.",
    "diff": "Show what a generation would add, lose and change, with the source messages. Changes nothing.",
    "cutover": "Replace live memories by a generation's; `--undo` restores them.",
    "generations": "List and discard generations, the results of replays.",
    "doctor": "Check every dependency and name remedies; exit code 1 if a check fails.",
    "settings": "List the environment variables that memstream reads, in groups, with defaults.",
    "usage": "Show the usage of model calls by operation, lane and model, and the rest of the budget.",
    "consolidate": "Extract waiting messages now: all, or those that the options select.",
    "runs": "Show consolidation runs: scope, progress, results.",
    "retention": "Delete old consolidated messages from the archive, as workers do every day.",
    "keys": "Manage the API's keys and their rights in namespaces.",
    "topics": "Create and list memstream's topics.",
    "schemas": "Register memstream's JSON Schemas.",
    "window": "Show, flush, prune, clear or restore a conversation's context window, or mark a message in it.",
    "dead-letters": "List, show, replay or discard records that memstream could not process.",
    "policies": "Manage policies as YAML files.",
}


class Commands(TyperGroup):
    """Lists the commands without loading them, and loads the one that is called."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {name: TyperCommand(name, help=said) for name, said in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, listed, rest = super().resolve_command(ctx, args)
        return name, loaded(name) if name and listed else None, rest


def loaded(name: str) -> Any:
    """The command of that name as Typer runs it, with its options or commands of its own."""
    with uncollected():
        module = import_module(f"deploy.cli.{name.replace('-', '_')}")
    return get_command(module.cli)


@contextmanager
def uncollected() -> Iterator[None]:
    """What is imported stays: to look through it for garbage again and again would take a fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# Typer's own tracebacks show source and may show values; Python's show neither.
cli = typer.Typer(
    name="memstream",
    help="Long-term memory for chat systems that live on Kafka.",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"memstream {version('memstream')}")
        raise typer.Exit


@cli.callback()
def memstream(
    version: Annotated[
        bool, typer.Option("--version", callback=tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options common to all commands."""


def main() -> None:
    """The `memstream` command."""
    cli()


if __name__ == "__main__":
    main()
