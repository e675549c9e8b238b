"""`memstream dev`: the embedded stack and a worker, kept running on fixed addresses with its data in a directory."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from deploy import terminal
from deploy.embedded.errors import EmbeddedPartFailed, log_tail
from deploy.embedded.process import GuardedProcess
from deploy.embedded.stack import EmbeddedStack, Ports, Progress
from deploy.settings import PREFIX, Settings
from schemas import codec
from sinks.migrate import migrate
from streams.topics import create, specs

READY_WITHIN_S = 60.0

# The embedded broker asks nobody who they are, whatever the environment says of another one.
PLAIN_KAFKA = {name: field.default for name, field in Settings.model_fields.items() if name.startswith("kafka_")}


@asynccontextmanager
async def running_stack(settings: Settings, ports: Ports, progress: Progress) -> AsyncIterator[Settings]:
    """The embedded stack, migrated and with its topics; yields the settings that reach it."""
    async with EmbeddedStack(settings.data_dir, settings.cache, ports, progress) as stack:
        reached = settings.model_copy(
            update={
                "bootstrap_servers": stack.bootstrap_servers,
                **PLAIN_KAFKA,
                "postgres_dsn": type(settings.postgres_dsn)(stack.dsn),
                "qdrant_url": stack.qdrant_url,
            }
        )
        await migrate(stack.dsn)
        names = reached.topics()
        await create(reached.cluster().client(), specs(names), names.replication)
        yield reached


@asynccontextmanager
async def running_worker(settings: Settings) -> AsyncIterator[GuardedProcess]:
    """A worker in a process of its own, which ends with this one whatever happens; its log lies in the data directory."""
    ready_file = settings.data_dir / "worker.ready"
    ready_file.unlink(missing_ok=True)
    process = GuardedProcess(
        "worker",
        [sys.executable, "-m", "deploy.cli", "worker", "--ready-file", str(ready_file)],
        settings.data_dir / "worker.log",
        environment=environment(settings),
    )
    process.start()
    try:

        async def ready() -> bool:
            return ready_file.exists()

        await process.wait_ready(ready, READY_WITHIN_S)
        yield process
    finally:
        await process.stop()


def environment(settings: Settings) -> dict[str, str]:
    """The settings as the variables that a child process reads them from."""
    given = {name: getattr(settings, name) for name in type(settings).model_fields}
    return {PREFIX + name.upper(): written(value) for name, value in given.items() if value is not None}


def written(value: object) -> str:
    """As a variable says it; what has parts is JSON."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return codec.encode(value).decode() if isinstance(value, dict) else str(value)


async def run_dev(settings: Settings, ports: Ports, stop: asyncio.Event) -> None:
    """Prints the addresses and runs until `stop` is set."""
    absolute = settings.model_copy(update={"data_dir": settings.data_dir.absolute()})
    async with running_stack(absolute, ports, tell) as reached, running_worker(reached) as worker:
        for line in addresses(reached):
            terminal.say(line)
        while not stop.is_set() and worker.running:
            try:
                async with asyncio.timeout(0.5):
                    await stop.wait()
            except TimeoutError:
                continue
        if not stop.is_set():
            raise EmbeddedPartFailed(
                "worker", "it stopped by itself", "The log says why.", log_tail(reached.data_dir / "worker.log")
            )
        terminal.say("stopping")


def addresses(settings: Settings) -> list[str]:
    return [
        f"Kafka       {settings.bootstrap_servers}",
        f"PostgreSQL  {settings.postgres_dsn.get_secret_value()}",
        f"Qdrant      {settings.qdrant_url}",
        f"data        {settings.data_dir}",
        "Publish to chat.messages and chat.conversations.ended; subscribe to memory.events. Ctrl-C stops everything.",
    ]


def tell(what: str, done: int, total: int) -> None:
    terminal.say(f"{what} ({done}/{total})")
