"""Start offsets of consumer groups, decided once: a restart before the first commit must not decide again."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, TypeAlias

from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query

Offsets: TypeAlias = dict[tuple[str, int], int]


class Skipped(NamedTuple):
    """The approximate number of records of a topic that a group skipped because they preceded its first start."""

    group: str
    topic: str
    records: int


class StartOffsets:
    """The `origins` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def fix(
        self, group: str, offsets: Mapping[tuple[str, int], int], skipped: Mapping[tuple[str, int], int] | None = None
    ) -> Offsets:
        """Stores the offsets by (topic, partition) unless the group has some, and returns the stored ones.

        `skipped` are the records that the group will not read. Concurrent workers agree: one stores, the others get its
        offsets. A partition that is missing from the result was added later and is read from its beginning.
        """
        with translated("storing start offsets"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("origins", "lock"), group)
                if known := await recorded(connection, group):
                    return known
                topics, partitions = [topic for topic, _ in offsets], [partition for _, partition in offsets]
                unread = [(skipped or {}).get(partition, 0) for partition in offsets]
                await connection.execute(
                    query("origins", "fix"), group, topics, partitions, list(offsets.values()), unread
                )
                return dict(offsets)

    async def recorded(self, group: str) -> Offsets:
        """The stored offsets of the group; empty before its first start."""
        with translated("reading start offsets"):
            async with self._pool.acquire() as connection:
                return await recorded(connection, group)

    async def skipped(self) -> list[Skipped]:
        """The skipped records of every group, by group and topic."""
        with translated("reading start offsets"):
            async with self._pool.acquire() as connection:
                rows = await connection.fetch(query("origins", "skipped"))
        return [Skipped(row["consumer_group"], row["topic"], row["skipped"]) for row in rows]

    async def installed_at(self) -> datetime:
        """The time of the database's first migration."""
        with translated("reading the time of installation"):
            async with self._pool.acquire() as connection:
                installed: datetime = await connection.fetchval(query("origins", "installed"))
        return installed


async def recorded(connection: Connection, group: str) -> Offsets:
    rows = await connection.fetch(query("origins", "recorded"), group)
    return {(row["topic"], row["partition"]): row["origin_offset"] for row in rows}
