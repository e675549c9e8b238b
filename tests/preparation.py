"""What a deployment of its own needs on a shared stack: settings under a name, a database, and topics."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from pydantic import SecretStr

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings, load
from sinks.postgres.migrate import migrate
from streams.kafka.topics import create, specs

# The embedded PostgreSQL trusts everybody; whoever prints or logs the dsn is found out by this.
PASSWORD = "EXAMPLE-pa55word"


async def prepared(stack: EmbeddedStack, name: str, directory: Path, **chosen: Any) -> Settings:
    """Settings of a deployment of its own on a shared stack, migrated and with its topics."""
    settings = unprepared(stack, name, directory, **chosen)
    await administer(stack.dsn, f'CREATE DATABASE "{name}"')
    await migrate(settings.postgres_dsn.get_secret_value())
    await create(settings.cluster().client(), specs(settings.topics()), 1)
    return settings


def unprepared(stack: EmbeddedStack, name: str, directory: Path, **chosen: Any) -> Settings:
    """The same settings, with nothing behind them yet."""
    own = {
        "bootstrap_servers": stack.bootstrap_servers,
        "postgres_dsn": SecretStr(dsn_of(stack, name)),
        "qdrant_url": stack.qdrant_url,
        "qdrant_collection": name,
        "topic_prefix": f"{name}.",
        "start_from": "earliest",
        "session_timeout_s": 6.0,
        "heartbeat_interval_s": 0.3,
        "data_dir": directory / name,
    }
    return load().model_copy(update=own | chosen)


def dsn_of(stack: EmbeddedStack, database: str) -> str:
    """With a password in it."""
    parts = urlsplit(stack.dsn)
    return parts._replace(netloc=parts.netloc.replace("@", f":{PASSWORD}@"), path=f"/{database}").geturl()


async def administer(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
