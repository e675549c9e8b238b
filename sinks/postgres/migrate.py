"""Migrates a database with `migrations/NNN_*.sql`; pogo keeps the record of applied files."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
from pogo_core import error
from pogo_core.util import migrate as pogo
from pogo_core.util import sql

from schemas.errors import Misconfigured
from sinks.postgres.connection import translated

MIGRATIONS = Path(__file__).parent / "migrations"
SCHEMA = "public"
LOCK = 0x6D656D73747265  # an arbitrary lock number: "memstre" in ASCII

SILENT = logging.Logger("pogo", level=logging.CRITICAL)  # pogo warns about each migration that it applies


async def migrate(dsn: str) -> list[str]:
    """Applies pending migrations, each in its own transaction, and returns their names.

    Concurrent processes wait for each other. Raises Misconfigured when a migration fails.
    """
    async with connected(dsn) as connection:
        await connection.execute("SELECT pg_advisory_lock($1)", LOCK)  # released when the connection closes
        missing = await unapplied(connection)
        try:
            await pogo.apply(connection, MIGRATIONS, schema_name=SCHEMA, logger=SILENT)
        except error.BadMigrationError as exc:
            raise Misconfigured(f"{exc}: {exc.__cause__}") from exc
        return missing


async def pending(dsn: str) -> list[str]:
    """The names of pending migrations, in order; changes nothing."""
    async with connected(dsn) as connection:
        return await unapplied(connection)


async def unapplied(connection: "asyncpg.Connection[asyncpg.Record]") -> list[str]:
    kept = await sql.get_pogo_version(connection) is not None
    applied = await sql.get_applied_migrations(connection, schema_name=SCHEMA) if kept else set()
    return sorted(path.stem for path in MIGRATIONS.glob("*.sql") if path.stem not in applied)


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator["asyncpg.Connection[asyncpg.Record]"]:
    """A separate connection outside any pool: it holds a lock until it is closed."""
    with translated("migrating"):
        connection = await asyncpg.connect(dsn)
        try:
            yield connection
        finally:
            await connection.close()
