"""`memstream serve`: the HTTP API, in this process."""

import logging
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from deploy.cli.command import command, one_command
from deploy.runtime import serve as api
from deploy.runtime.process import STOP_WITHIN_S, end_logged, end_soon, log_to_stderr, stop_on_signals
from deploy.runtime.tracing import traced
from deploy.settings import load

log = logging.getLogger(__name__)

cli = one_command()


@cli.command()
@partial(command, loop=uvloop.new_event_loop)
async def serve(
    host: Annotated[str | None, typer.Option(help="Default MEMSTREAM_API_HOST.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Default MEMSTREAM_API_PORT.")] = None,
    keys: Annotated[bool, typer.Option(help="Without, on loopback only: everybody there may do everything.")] = True,
    ready_file: Annotated[Path | None, typer.Option(help="Gets the address once it answers.")] = None,
) -> None:
    """Run the HTTP API until SIGTERM; any number of them may run side by side."""
    given = {"api_host": host, "api_port": port}
    settings = load(**{name: value for name, value in given.items() if value is not None})
    log_to_stderr(settings)

    def ready(address: str) -> None:
        log.info("serving on %s", address)
        if ready_file:
            ready_file.write_text(address)

    def stopping() -> None:
        end_soon(settings.stop_s + STOP_WITHIN_S)

    with end_logged(), traced(settings, "memstream-api"):
        await api.serve(settings, stop_on_signals(), keyed=keys, on_ready=ready, on_stopping=stopping)
