"""Where each consumer group began to read, decided once: a restart before the first commit must not decide again."""

from collections.abc import Mapping
from typing import TypeAlias

from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query

Offsets: TypeAlias = dict[tuple[str, int], int]


class StartOffsets:
    """The `origins` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def fix(self, group: str, offsets: Mapping[tuple[str, int], int]) -> Offsets:
        """Records the offsets by (topic, partition) if nothing is recorded for the group, and returns what is recorded.

        Workers that start together agree: one records, the others get what it recorded. A partition that is missing
        from the answer was added later and is read from its beginning.
        """
        with translated("fixing origins"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("origins", "lock"), group)
                if known := await recorded(connection, group):
                    return known
                topics, partitions = [topic for topic, _ in offsets], [partition for _, partition in offsets]
                await connection.execute(query("origins", "fix"), group, topics, partitions, list(offsets.values()))
                return dict(offsets)

    async def recorded(self, group: str) -> Offsets:
        """What is recorded for the group; empty before its first start."""
        with translated("reading origins"):
            async with self._pool.acquire() as connection:
                return await recorded(connection, group)


async def recorded(connection: Connection, group: str) -> Offsets:
    rows = await connection.fetch(query("origins", "recorded"), group)
    return {(row["topic"], row["partition"]): row["origin_offset"] for row in rows}
