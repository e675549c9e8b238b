"""How a command of the command line runs: asynchronous inside, outside an exit code and one line for what cannot be done."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Annotated, Any

import typer

from deploy import terminal
from deploy.embedded.errors import EmbeddedPartFailed
from schemas.errors import MemstreamError

Json = Annotated[bool, typer.Option("--json", help="Print JSON lines, for scripts.")]


def command(action: Callable[..., Coroutine[Any, Any, int | None]]) -> Callable[..., None]:
    """Runs an async command; what memstream raises on purpose becomes one line on stderr and exit code 1."""

    @wraps(action)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            code = asyncio.run(action(*args, **kwargs))
        except (MemstreamError, EmbeddedPartFailed) as exc:
            terminal.complain(str(exc))
            code = 1
        except KeyboardInterrupt:
            code = 130
        raise typer.Exit(code or 0)

    return run
