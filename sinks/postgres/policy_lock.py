"""A lock for writers of policies, across processes: versions are counted from the latest state of the topic."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


@asynccontextmanager
async def writing_policies(pool: Pool) -> AsyncIterator[None]:
    """Holds the lock. Raises Retryable if waiting for it takes too long or the connection to PostgreSQL is lost."""
    with translated("waiting to write policies"):
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute(query("policy_lock", "lock"))
            yield
