"""A migrated database for each file of contract tests, and unique names for each test."""

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest

from deploy.embedded.stack import EmbeddedStack
from tests.preparation import drop_database, make_database


@pytest.fixture(scope="module")
def dsn(embedded_stack: EmbeddedStack) -> Iterator[str]:
    """The dsn of the file's database."""
    name = f"contract_{uuid4().hex[:12]}"
    yield asyncio.run(make_database(embedded_stack.dsn, name))
    asyncio.run(drop_database(embedded_stack.dsn, name))


@pytest.fixture
def name() -> str:
    """A unique name for a conversation or a model."""
    return uuid4().hex
