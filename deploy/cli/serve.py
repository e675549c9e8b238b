"""`memstream serve`: runs the HTTP API in this process."""

import logging
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
import uvloop

from deploy.cli.command import command, one_command
from deploy.runtime import serve as api
from deploy.runtime.process import STOP_WITHIN_S, exit_after, log_fatal_errors, log_to_stderr, stop_on_signals
from deploy.runtime.tracing import export_traces
from deploy.settings import load

log = logging.getLogger(__name__)

cli = one_command()


@cli.command()
@partial(command, loop=uvloop.new_event_loop)
async def serve(
    host: Annotated[str | None, typer.Option(help="Host to listen on; default MEMSTREAM_API_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on; default MEMSTREAM_API_PORT.")
    ] = None,
    keys: Annotated[
        bool,
        typer.Option(help="Require API keys. --no-keys works on loopback only and grants every right to every client."),
    ] = True,
    ready_file: Annotated[
        Path | None, typer.Option(help="File that receives the address once the API serves requests.")
    ] = None,
) -> None:
    """Run the HTTP API until SIGTERM. Any number of API processes may run side by side."""
    options = {"api_host": host, "api_port": port}
    settings = load(**{name: value for name, value in options.items() if value is not None})
    log_to_stderr(settings)

    def ready(address: str) -> None:
        log.info("serving on %s", address)
        if ready_file:
            ready_file.write_text(address)

    def stopping() -> None:
        exit_after(settings.stop_s + STOP_WITHIN_S)

    with log_fatal_errors(), export_traces(settings, "memstream-api"):
        await api.serve(settings, stop_on_signals(), keyed=keys, on_ready=ready, on_stopping=stopping)
