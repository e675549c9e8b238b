"""Results of commands for their senders. The curator writes them in the deciding transaction."""

from collections.abc import Collection
from typing import Any

from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class CommandResults:
    """Reads the table `commands`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, sent: Collection[tuple[str, str]]) -> dict[tuple[str, str], Any]:
        """Outcomes, as builtins, by (namespace, command_id); commands that are not applied yet are missing. Raises
        Retryable."""
        stored = {
            (storable(namespace), storable(command_id)): (namespace, command_id) for namespace, command_id in sent
        }
        with translated("reading results of commands"):
            rows = await self._pool.fetch(query("commands", "outcomes"), *map(list, zip(*stored, strict=True)))
        return {stored[row["namespace"], row["command_id"]]: row["outcome"] for row in rows}
