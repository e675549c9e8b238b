"""`memstream dev`: runs the embedded stack with a worker and the API on fixed addresses."""

import asyncio
import shlex
from pathlib import Path
from typing import Annotated

import typer

from deploy.cli import terminal
from deploy.cli.command import command, one_command
from deploy.embedded.stack import Ports
from deploy.runtime.dev import ready_path, running_api, running_stack, running_worker, variable_text
from deploy.runtime.process import stop_on_signals
from deploy.settings import Settings, load
from deploy.settings.defaults import DEV_API_PORT, DEV_KAFKA_PORT, DEV_POSTGRES_PORT, DEV_QDRANT_PORT, PREFIX
from deploy.wiring import reindexing

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
    keys: Annotated[
        bool, typer.Option("--keys", help="Require API keys, as `memstream serve` does: `memstream keys` makes them.")
    ] = False,
) -> None:
    """Run the embedded stack with a worker and the API. Its data survives a restart."""
    settings = load(api_port=api_port, **({"data_dir": data_dir} if data_dir else {}))
    ports = Ports(kafka_port or None, postgres_port or None, qdrant_port or None)
    await run_dev(settings, ports, stop_on_signals(), keyed=keys)


async def run_dev(settings: Settings, ports: Ports, stop: asyncio.Event, *, keyed: bool) -> None:
    """Prints the addresses and runs until `stop` is set. Raises EmbeddedPartFailed when a process ends by itself."""
    absolute = settings.model_copy(update={"data_dir": settings.data_dir.absolute()})
    async with running_stack(absolute, ports, print_progress) as stack_settings:
        if await reindexing.are_of_other_models(stack_settings):  # no worker would start
            terminal.print_line("the embedding models are others than before: indexing memories and messages again")
            await reindexing.reindex(stack_settings, terminal.print_line)
        async with running_worker(stack_settings) as worker, running_api(stack_settings, keyed=keyed) as api:
            for line in addresses(stack_settings, settings, keyed=keyed):
                terminal.print_line(line)
            while not stop.is_set() and worker.running and api.running:
                try:
                    async with asyncio.timeout(0.5):
                        await stop.wait()
                except TimeoutError:
                    continue
            if not stop.is_set():
                raise (api if worker.running else worker).exited()
            terminal.print_line("stopping")


def addresses(settings: Settings, found: Settings, *, keyed: bool) -> list[str]:
    """The lines about the running stack. `found` are the settings that other commands find in this environment."""
    api = ready_path("api", settings).read_text()
    access = "requires a key: `memstream keys create NAME --admin '*'`" if keyed else "needs no key here"
    return [
        f"panel       {api}/",
        f"Kafka       {settings.bootstrap_servers}",
        f"PostgreSQL  {settings.postgres_dsn.get_secret_value()}",
        f"Qdrant      {settings.qdrant_url}",
        f"API         {api}",
        f"data, logs  {settings.data_dir}",
        *exports(settings, found),
        f"Publish to chat.messages and chat.conversations.ended; subscribe to memory.events; the API {access}. "
        "Ctrl-C stops everything.",
    ]


def exports(settings: Settings, found: Settings) -> list[str]:
    """The variables by which other commands find the stack, if it has other ports than they look for."""
    needed = {
        name: variable_text(value)
        for name in ("bootstrap_servers", "postgres_dsn", "qdrant_url")
        if (value := getattr(settings, name)) != getattr(found, name)
    }
    variables = " ".join(shlex.join([f"{PREFIX}{name.upper()}={value}"]) for name, value in needed.items())
    return [f"For other commands: export {variables}"] if needed else []


def print_progress(what: str, done: int, total: int) -> None:
    terminal.print_line(f"{what} ({done}/{total})")
