"""Progress of an erasure in curation, recorded in the transaction that erases a part."""

from datetime import datetime

from schemas.erasure.erasures import Erasure
from schemas.memories.commands import Command
from sinks.erasure.erasures import begin, erasure_of
from sinks.erasure.purges import PurgeCounts
from sinks.postgres.connection import Connection, translated
from sinks.postgres.queries import query


class ErasureProgress:
    """Reads and writes within a transaction that holds the lock of a namespace. Raises Retryable."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def begin(self, erasure: Erasure) -> None:
        """Stores the erasure. A known id changes nothing."""
        with translated("beginning an erasure"):
            await begin(self._connection, erasure)

    async def get(self, erasure_id: str) -> Erasure | None:
        with translated("reading an erasure"):
            row = await self._connection.fetchrow(query("erasures", "get"), erasure_id)
        if row is None:
            return None
        return erasure_of({name: row[name] for name in Erasure.__struct_fields__})

    async def count(self, erasure_id: str, command: Command, gone: PurgeCounts) -> None:
        how = "forget" if command.kind == "forget" else "purge"
        values = (erasure_id, command.namespace, how, command.command_id, gone.memories, gone.versions, gone.vectors)
        with translated("counting erased memories"):
            await self._connection.execute(query("erasures", "erased_of"), *values)

    async def count_passages(self, erasure_id: str, removed: int, at: datetime) -> None:
        with translated("counting erased memories"):
            await self._connection.execute(query("erasures", "count_removed"), erasure_id, "passages", removed, at)

    async def done(self, erasure_id: str, command: Command, at: datetime) -> None:
        """Marks the namespace of the command as fully erased."""
        await self.count(erasure_id, command, PurgeCounts(0, 0, 0))
        with translated("marking a namespace as erased"):
            await self._connection.execute(query("erasures", "done_with"), erasure_id, command.namespace, at)
