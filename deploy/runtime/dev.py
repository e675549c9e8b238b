"""Runs the embedded stack, a worker and the API as child processes on this machine."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from deploy.embedded.embedding_models import ensure_model
from deploy.embedded.ports import LOOPBACK
from deploy.embedded.process import GuardedProcess
from deploy.embedded.stack import EmbeddedStack, Ports, Progress
from deploy.settings import Settings
from deploy.settings.defaults import PREFIX
from schemas import codec
from sinks.postgres.migrate import migrate
from streams.kafka.topics import create, specs

READY_WITHIN_S = 180.0
STOPS_WITHIN_S = 10.0  # seconds after running work has ended

# The embedded broker has no authentication, whatever the environment says about another broker.
PLAIN_KAFKA = {name: field.default for name, field in Settings.model_fields.items() if name.startswith("kafka_")}


@asynccontextmanager
async def running_stack(settings: Settings, ports: Ports, progress: Progress) -> AsyncIterator[Settings]:
    """Runs the embedded stack, migrated and with its topics; yields the settings with its addresses. Downloads missing embedding
    models first."""
    for model in (settings.embedding_model, settings.passage_embedding_model):
        await asyncio.to_thread(
            ensure_model,
            model,
            settings.cache,
            lambda done, total, name: progress(f"fetched {name}", done, total),
        )
    async with EmbeddedStack(settings.data_dir, settings.cache, ports, progress) as stack:
        stack_settings = settings.model_copy(
            update={
                "bootstrap_servers": stack.bootstrap_servers,
                **PLAIN_KAFKA,
                "postgres_dsn": type(settings.postgres_dsn)(stack.dsn),
                "qdrant_url": stack.qdrant_url,
            }
        )
        await migrate(stack.dsn)
        names = stack_settings.topics()
        await create(stack_settings.cluster().client(), specs(names), names.replication)
        yield stack_settings


def running_worker(settings: Settings) -> AbstractAsyncContextManager[GuardedProcess]:
    return running("worker", ["worker"], settings)


def running_api(settings: Settings, *, keyed: bool = False) -> AbstractAsyncContextManager[GuardedProcess]:
    """Runs the API on loopback only, whatever the environment says."""
    local = settings.model_copy(update={"api_host": LOOPBACK, "migrate_at_start": False})
    return running("api", ["serve", "--keys" if keyed else "--no-keys"], local)


@asynccontextmanager
async def running(name: str, arguments: Sequence[str], settings: Settings) -> AsyncIterator[GuardedProcess]:
    """Runs a child process that ends with this one; its log and its ready file are in the data directory."""
    ready_file = ready_path(name, settings)
    ready_file.unlink(missing_ok=True)
    process = GuardedProcess(
        name,
        [sys.executable, "-m", "deploy.cli.main", *arguments, "--ready-file", str(ready_file)],
        settings.data_dir / f"{name}.log",
        environment=environment(settings),
        grace_s=STOPS_WITHIN_S + settings.stop_s,
    )
    process.start()
    try:

        async def ready() -> bool:
            return ready_file.exists() and bool(ready_file.read_text())  # the file may still be empty

        await process.wait_ready(ready, READY_WITHIN_S)
        yield process
    finally:
        await process.stop()


def ready_path(name: str, settings: Settings) -> Path:
    return settings.data_dir / f"{name}.ready"


def environment(settings: Settings) -> dict[str, str]:
    """The settings as environment variables for a child process."""
    given = {name: getattr(settings, name) for name in type(settings).model_fields}
    return {PREFIX + name.upper(): variable_text(value) for name, value in given.items() if value is not None}


def variable_text(value: object) -> str:
    """A setting's value as an environment variable; structured values as JSON."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return codec.encode(value).decode() if isinstance(value, dict) else str(value)
