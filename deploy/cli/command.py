"""Runs one command: async inside, an exit code and one-line errors outside."""

import asyncio
import getpass
from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Annotated, Any, Final

import typer

from deploy.cli import terminal
from deploy.cli.unreachable_brokers import unreachable_brokers
from deploy.embedded.errors import EmbeddedPartFailed
from schemas.errors import MemstreamError, Misconfigured

MAX_CHARACTERS: Final = 256  # of an Identifier

Json = Annotated[bool, typer.Option("--json", help="Print JSON lines, for scripts.")]


class WrongUsage(Misconfigured):
    """The arguments and options alone show that the command cannot run: a value is unknown, or they do not fit together."""


def require_length(text: str, what: str) -> None:
    """Raises WrongUsage unless the text may be an id, a name or a namespace."""
    if not 0 < len(text) <= MAX_CHARACTERS:
        raise WrongUsage(f"{text[:40]!r} has {len(text)} characters: {what} has 1 to {MAX_CHARACTERS}")


def command(
    action: Callable[..., Coroutine[Any, Any, int | None]], loop: Callable[[], AbstractEventLoop] | None = None
) -> Callable[..., None]:
    """Runs an async command on asyncio's event loop, or on the given `loop`. A MemstreamError becomes one line on stderr and
    exit code 1, WrongUsage exit code 2, as Typer's own errors do."""

    @wraps(action)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with asyncio.Runner(loop_factory=loop) as runner:
                code = runner.run(action(*args, **kwargs))
        except (MemstreamError, EmbeddedPartFailed) as exc:
            terminal.print_error(unreachable_brokers.explain(exc))
            code = 2 if isinstance(exc, WrongUsage) else 1
        except KeyboardInterrupt:
            code = 130
        raise typer.Exit(code or 0)

    return run


def one_command() -> typer.Typer:
    """Returns the Typer app of a module with a single command. Only `memstream` itself has shell completion."""
    return typer.Typer(add_completion=False)


def several_commands(help_text: str) -> typer.Typer:
    """Returns the Typer app of a module with subcommands."""
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False)


def current_user() -> str:
    """Returns the operating system's user, for the audit log."""
    return f"{getpass.getuser()} at the command line"
