"""Who of all workers acts in a role: one at a time, the same one as long as it lives, and another within seconds of its end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query

LEASE_S = 10.0
SILENT_S = 30.0  # longer than asking for a whole page in Kafka takes where Kafka is well


class Leadership:
    """One process' claim to a role, in the table `leaders`; `owner` names the process.

    What is decided within `term` commits while the role's row is locked: no two decide at a time, whatever a clock says or
    however long one of them was paused. The lease beside it keeps the role with one of them. One that is paused or cut off within
    its term holds the row until it has said nothing for `silent_s`: the server ends its session then.
    """

    def __init__(self, pool: Pool, role: str, owner: str, lease_s: float = LEASE_S, silent_s: float = SILENT_S) -> None:
        self._pool = pool
        self._role = role
        self._owner = owner
        self._lease_s = lease_s
        self._silent_ms = str(round(silent_s * 1000))

    @asynccontextmanager
    async def term(self) -> AsyncIterator[Connection | None]:
        """A transaction in which this process leads; None where another one does. Raises Retryable."""
        with translated(f"leading as {self._role}"):
            async with self._pool.acquire() as connection, connection.transaction():
                claim = (self._role, self._owner, self._lease_s, self._silent_ms)
                leads = await connection.fetchval(query("leaders", "lead"), *claim)
                yield connection if leads is not None else None

    async def stand_down(self) -> None:
        """Lets another one lead at once; nothing where another one does. Raises Retryable."""
        with translated(f"standing down as {self._role}"):
            await self._pool.execute(query("leaders", "stand_down"), self._role, self._owner)
