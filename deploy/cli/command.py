"""How a command of the command line runs: asynchronous inside, outside an exit code and one line for what cannot be done."""

import asyncio
from asyncio import AbstractEventLoop
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Annotated, Any

import typer

from deploy.cli import terminal
from deploy.embedded.errors import EmbeddedPartFailed
from schemas.errors import MemstreamError

Json = Annotated[bool, typer.Option("--json", help="Print JSON lines, for scripts.")]


def command(
    action: Callable[..., Coroutine[Any, Any, int | None]], loop: Callable[[], AbstractEventLoop] | None = None
) -> Callable[..., None]:
    """Runs an async command, on asyncio's own kind of `loop` if no other is named; what memstream raises on purpose becomes one
    line on stderr and exit code 1."""

    @wraps(action)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with asyncio.Runner(loop_factory=loop) as runner:
                code = runner.run(action(*args, **kwargs))
        except (MemstreamError, EmbeddedPartFailed) as exc:
            terminal.print_error(str(exc))
            code = 1
        except KeyboardInterrupt:
            code = 130
        raise typer.Exit(code or 0)

    return run


def one_command() -> typer.Typer:
    """For a module of a single command; `memstream` itself has what completes its options in a shell."""
    return typer.Typer(add_completion=False)


def several_commands(said: str) -> typer.Typer:
    """For a module whose commands go by two words."""
    return typer.Typer(help=said, no_args_is_help=True, add_completion=False)
