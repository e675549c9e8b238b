"""Prepares a deployment on a shared stack: settings under a name, a database, and topics."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from pydantic import SecretStr

from deploy.embedded.stack import EmbeddedStack
from deploy.settings import Settings, load
from sinks.postgres.migrate import migrate
from streams.kafka.topics import create, specs

# The embedded PostgreSQL needs no password; this one detects code that prints or logs the dsn.
PASSWORD = "EXAMPLE-pa55word"


async def prepared(stack: EmbeddedStack, name: str, directory: Path, **chosen: Any) -> Settings:
    """Settings of a deployment with a migrated database and its topics."""
    settings = unprepared(stack, name, directory, **chosen)
    await make_database(stack.dsn, name)
    await create(settings.cluster().client(), specs(settings.topics()), 1)
    return settings


def unprepared(stack: EmbeddedStack, name: str, directory: Path, **chosen: Any) -> Settings:
    """The same settings without database and topics."""
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
    """The dsn with a password in it."""
    parts = urlsplit(stack.dsn)
    return parts._replace(netloc=parts.netloc.replace("@", f":{PASSWORD}@"), path=f"/{database}").geturl()


async def make_database(dsn: str, name: str) -> str:
    """Creates a migrated database on the server at `dsn` and returns its dsn. The first one per server is migrated, the
    others are copies of it."""
    if not await _exists(dsn, "migrated"):
        await administer(dsn, "CREATE DATABASE migrating")
        await migrate(of_database(dsn, "migrating"))
        await administer(dsn, "ALTER DATABASE migrating RENAME TO migrated")
    # Half the CPU time of a copy through the write-ahead log, which is the default.
    await administer(dsn, f'CREATE DATABASE "{name}" TEMPLATE migrated STRATEGY FILE_COPY')
    return of_database(dsn, name)


async def _exists(dsn: str, name: str) -> bool:
    connection = await asyncpg.connect(dsn)
    try:
        return bool(await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", name))
    finally:
        await connection.close()


async def drop_database(dsn: str, name: str) -> None:
    await administer(dsn, f'DROP DATABASE "{name}" WITH (FORCE)')


def of_database(dsn: str, name: str) -> str:
    return urlsplit(dsn)._replace(path=f"/{name}").geturl()


async def administer(dsn: str, statement: str) -> None:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
