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
    "mcp": "Give a model's client tools over memories: a server of the Model Context Protocol on standard input and output.",
    "events": "Print memory events, one a line.",
    "erase": "Erase a user, a conversation or a namespace everywhere, and show the receipt.",
    "export": "Write the memories of a namespace as JSON Lines, one a line: live, superseded and expired ones.",
    "import": "Bring memories in from JSON Lines. Those that are there, by their id or their text, stay as they are.",
    "reindex": "Rebuild Qdrant from PostgreSQL; only what another model embedded is embedded again. Safe beside running workers.",
    "rebuild": "Make PostgreSQL's memories anew from memory.state and memory.events, then Qdrant; workers must be stopped.",
    "replay": "Extract again what was said, by other policies or another model, beside what is remembered.",
    "diff": "Show what a generation would add, lose and change, from which messages; nothing is changed by looking.",
    "cutover": "Put what a generation remembers in place of what is remembered; `--undo` takes it back.",
    "generations": "What was replayed: generations of memories beside those that are live.",
    "doctor": "Check every dependency and say what to do; exit code 1 when something is wrong.",
    "settings": "List the environment variables that memstream reads, by what they set, with their defaults.",
    "usage": "Show what model calls consumed, by operation, lane and model, and what is left of the budget.",
    "consolidate": "Have what was said and is not extracted yet extracted now, for everything, or for what the options name.",
    "runs": "Consolidation runs: what each was about, how far it is, what came of it.",
    "retention": "Take out of the archive what is old and was consolidated, as happens every day.",
    "keys": "Keys of the API: who may do what in which namespaces.",
    "topics": "memstream's topics on the cluster.",
    "window": "A conversation's context: look at it, act on it by hand.",
    "dead-letters": "What could not be processed: look at it, publish it again, put it away.",
    "policies": "What applies to which conversations: policies, as YAML files.",
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
