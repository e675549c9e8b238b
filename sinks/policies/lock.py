"""One writer of policies at a time, whatever the number of processes: versions are counted from what stands on their topic."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


@asynccontextmanager
async def writing_policies(pool: Pool) -> AsyncIterator[None]:
    """Waits until nobody else writes. Raises Retryable when that takes too long, or PostgreSQL goes away meanwhile."""
    with translated("waiting to write policies"):
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(query("policies", "lock"))
            yield
