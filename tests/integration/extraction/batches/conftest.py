"""Two workers on one Messages server."""

from collections.abc import AsyncIterator

import pytest

from sinks.postgres.connection import Pool
from tests.integration.extraction.batches.batch_stage import Worker
from tests.servers.messages import MessagesServer


@pytest.fixture
async def server() -> AsyncIterator[MessagesServer]:
    async with MessagesServer() as server:
        yield server


@pytest.fixture
async def worker(pool: Pool, server: MessagesServer) -> AsyncIterator[Worker]:
    worker = Worker(pool, server)
    yield worker
    await worker.resuming.close()
    await worker.client.close()


@pytest.fixture
async def another(pool: Pool, server: MessagesServer) -> AsyncIterator[Worker]:
    """A worker that starts later."""
    another = Worker(pool, server, "another")
    yield another
    await another.resuming.close()
    await another.client.close()
