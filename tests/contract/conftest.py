"""A migrated database for each file of contract tests, and names of each test's own."""

import asyncio
from collections.abc import Iterator
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg
import pytest

from deploy.embedded.stack import EmbeddedStack
from sinks.postgres.migrate import migrate


@pytest.fixture(scope="module")
def dsn(embedded_stack: EmbeddedStack) -> Iterator[str]:
    """PostgreSQL's address of the file's database."""
    name = f"contract_{uuid4().hex[:12]}"

    async def administer(statement: str) -> None:
        connection = await asyncpg.connect(embedded_stack.dsn)
        await connection.execute(statement)
        await connection.close()

    asyncio.run(administer(f"CREATE DATABASE {name}"))
    asyncio.run(migrate(dsn := urlsplit(embedded_stack.dsn)._replace(path=f"/{name}").geturl()))
    yield dsn
    asyncio.run(administer(f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture
def name() -> str:
    """A conversation, or a model, of the test's own."""
    return uuid4().hex
