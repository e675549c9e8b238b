"""A second database, for a rebuild."""

from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from deploy.embedded.stack import EmbeddedStack
from sinks.postgres.connection import Pool, connect
from tests.preparation import drop_database, make_database


@pytest.fixture
async def other(embedded_stack: EmbeddedStack) -> AsyncIterator[Pool]:
    """A further migrated database, empty."""
    name = f"other_{uuid4().hex[:12]}"
    pool = await connect(await make_database(embedded_stack.dsn, name), max_size=4)
    yield pool
    await pool.close()
    await drop_database(embedded_stack.dsn, name)
