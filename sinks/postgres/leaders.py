"""Leader election among workers, by role. A leader stays while it lives; another process takes over within seconds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query

LEASE_S = 10.0
SILENT_S = 30.0  # longer than requesting extraction for a whole page takes with a healthy Kafka


class Leadership:
    """One process's candidacy for a role, in the table `leaders`; `owner` names the process.

    Decisions within `term` commit while the row of the role is locked, so no two processes decide at a time, whatever their
    clocks or pauses. The lease keeps the role with one of them. A leader that hangs within its term holds the row until it
    was silent for `silent_s` seconds: then the server ends its session.
    """

    def __init__(self, pool: Pool, role: str, owner: str, lease_s: float = LEASE_S, silent_s: float = SILENT_S) -> None:
        self._pool = pool
        self._role = role
        self._owner = owner
        self._lease_s = lease_s
        self._silent_ms = str(round(silent_s * 1000))

    @asynccontextmanager
    async def term(self) -> AsyncIterator[Connection | None]:
        """Opens a transaction in which this process leads; None if another process leads. Raises Retryable."""
        with translated(f"leading as {self._role}"):
            async with self._pool.acquire() as connection, connection.transaction():
                claim = (self._role, self._owner, self._lease_s, self._silent_ms)
                leads = await connection.fetchval(query("leaders", "lead"), *claim)
                yield connection if leads is not None else None

    async def resign(self) -> None:
        """Gives the role up at once; does nothing if another process leads. Raises Retryable."""
        with translated(f"resigning as {self._role}"):
            await self._pool.execute(query("leaders", "resign"), self._role, self._owner)
