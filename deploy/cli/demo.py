"""`memstream demo`: starts all components, processes the sample conversations, stops all components."""

from typing import Annotated

import typer

from deploy.cli.command import Json, command, one_command
from deploy.demo.run import run_demo
from deploy.settings import load

cli = one_command()


@cli.command()
@command
async def demo(
    provider: Annotated[
        str | None, typer.Option(help="offline, claude, ollama or auto; default MEMSTREAM_PROVIDER.")
    ] = None,
    json: Json = False,
) -> int:
    """Start all components, process the sample conversations, show the memories, stop all components."""
    return await run_demo(load(**({"provider": provider} if provider else {})), in_json=json)
