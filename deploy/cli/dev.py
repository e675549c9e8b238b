"""`memstream dev`: runs the embedded stack with a worker and the API on fixed addresses."""

from pathlib import Path
from typing import Annotated

import typer

from deploy.cli.command import command, one_command
from deploy.embedded.stack import Ports
from deploy.runtime.dev import run_dev
from deploy.runtime.process import stop_on_signals
from deploy.settings import load
from deploy.settings.defaults import DEV_API_PORT, DEV_KAFKA_PORT, DEV_POSTGRES_PORT, DEV_QDRANT_PORT

cli = one_command()

DataDir = Annotated[Path | None, typer.Option(help="Data directory; default MEMSTREAM_DATA_DIR.")]

DevPort = Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0 for any free port.")]


@cli.command()
@command
async def dev(
    data_dir: DataDir = None,
    kafka_port: DevPort = DEV_KAFKA_PORT,
    postgres_port: DevPort = DEV_POSTGRES_PORT,
    qdrant_port: DevPort = DEV_QDRANT_PORT,
    api_port: DevPort = DEV_API_PORT,
) -> None:
    """Run the embedded stack with a worker and the API. Its data survives a restart."""
    settings = load(api_port=api_port, **({"data_dir": data_dir} if data_dir else {}))
    ports = Ports(kafka_port or None, postgres_port or None, qdrant_port or None)
    await run_dev(settings, ports, stop_on_signals())
