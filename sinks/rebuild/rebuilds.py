"""A database brought up to what `memory.state` and `memory.events` tell: what was told, page by page, and what follows from all.

A page and the position behind it commit together, so a rebuild goes on where it was interrupted. Nothing told is applied over
something later, so pages may come again, and the two topics in any order.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from schemas.erasure.erasures import Fence
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.erasure.purges import Purges
from sinks.memories import writer
from sinks.memories.reader import memories_from
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query

Partition: TypeAlias = tuple[str, int]


class RebuiltMemory(Struct, frozen=True, kw_only=True):
    """What a record tells of a memory: what it is, or with `memory` None that it is gone.

    `in_state` says which topic told. Only events tell what was `erased`, of which less is kept than of a deletion.
    """

    memory_id: str
    namespace: str
    version: int
    sequence: int
    memory: Memory | None
    in_state: bool
    erased: bool = False


class RebuiltVersion(Struct, frozen=True, kw_only=True):
    """What `memory.events` tells of a change."""

    change: Change
    before: Memory | None
    after: Memory
    cause: Cause
    at: datetime


class Page(Struct, frozen=True, kw_only=True):
    """What some records of one partition tell together: the latest of each memory, the head of each namespace, the erasures.

    `rows` are memories as the table has them, `shells` those that were deleted, which have no content.
    `position` is where to read on.
    """

    partition: Partition
    position: int
    told: Sequence[RebuiltMemory]
    rows: Sequence[dict[str, Any]] = ()
    shells: Sequence[dict[str, Any]] = ()
    heads: Mapping[str, int]
    versions: Sequence[RebuiltVersion] = ()
    fences: Mapping[str, datetime]


class RebuildCounts(Struct, frozen=True, kw_only=True):
    """What is in the database."""

    memories: int
    namespaces: int
    versions: int


class Rebuilds:
    """The `rebuild_...` tables, and what is written because of them. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def positions(self) -> dict[Partition, int]:
        """Where a rebuild that was begun goes on, by logical topic and partition; empty where none was."""
        return await unfinished(self._pool)

    async def holds_memories(self) -> bool:
        """Whether the database has, or had, memories."""
        with translated("looking for memories"):
            return bool(await self._pool.fetchval(query("rebuilds", "holds_memories")))

    async def begin(self, positions: Mapping[Partition, int]) -> None:
        """From here on no worker starts on the database, until the end."""
        topics, partitions = [topic for topic, _ in positions], [partition for _, partition in positions]
        with translated("beginning a rebuild"):
            await self._pool.execute(query("rebuilds", "begin"), topics, partitions, list(positions.values()))

    async def withdraw(self) -> None:
        """As if it had not begun; only before anything was applied."""
        with translated("withdrawing a rebuild"):
            await self._pool.execute(query("rebuilds", "end"))

    async def apply(self, page: Page) -> None:
        """Takes over what a page tells."""
        with translated("rebuilding"):
            async with self._pool.acquire() as connection, connection.transaction():
                await apply_statements(connection, page)
                await apply_versions(connection, page)
                for namespace, at in page.fences.items():
                    await Purges(connection).fence(namespace, Fence(at))
                await connection.execute(query("rebuilds", "advance"), *page.partition, page.position)

    async def conclude(self) -> None:
        """What follows once everything was told: what nothing tells of is gone, what was published is not published again, and
        what memory.state was not told any more is put into the outbox."""
        with translated("concluding a rebuild"):
            async with self._pool.acquire() as connection, connection.transaction():
                for name in ("drop_untold", "drop_shadows", "drop_lone_versions", "complete_versions", "drop_told"):
                    await connection.execute(query("rebuilds", name))
                await connection.execute(query("hidden_messages", "restore"))
                await queue_state(connection)

    async def fenced(self) -> dict[str, datetime]:
        """The namespaces that were erased, and when."""
        with translated("asking for fences"):
            rows = await self._pool.fetch(query("rebuilds", "fenced"))
        return {row["namespace"]: row["purged_at"] for row in rows}

    async def end(self) -> RebuildCounts:
        """The database is whole; workers may start."""
        with translated("ending a rebuild"):
            await self._pool.execute(query("rebuilds", "end"))
            row = await self._pool.fetchrow(query("rebuilds", "standing"))
        return RebuildCounts(**dict(row or {}))


async def unfinished(pool: Pool) -> dict[Partition, int]:
    """The positions of a rebuild that was begun and not ended."""
    with translated("asking for a rebuild"):
        rows = await pool.fetch(query("rebuilds", "positions"))
    return {(row["topic"], row["partition"]): row["position"] for row in rows}


async def apply_statements(connection: Connection, page: Page) -> None:
    if not page.told:
        return
    execute = connection.execute
    ids, sequences = [each.memory_id for each in page.told], [each.sequence for each in page.told]
    await execute(query("rebuilds", "heads"), list(page.heads), list(page.heads.values()))
    await execute(query("rebuilds", "told"), *columns(page.told))
    await execute(query("rebuilds", "drop_older"), ids, sequences)
    await execute(query("rebuilds", "store"), list(page.rows), False)
    await execute(query("rebuilds", "store"), list(page.shells), True)


def columns(told: Sequence[RebuiltMemory]) -> tuple[list[Any], ...]:
    return (
        [each.memory_id for each in told],
        [each.namespace for each in told],
        [each.version for each in told],
        [each.sequence for each in told],
        [each.memory is None for each in told],
        [each.sequence if each.in_state else 0 for each in told],
    )


async def apply_versions(connection: Connection, page: Page) -> None:
    erased = [each for each in page.told if each.erased]
    if erased:
        ids, sequences = [each.memory_id for each in erased], [each.sequence for each in erased]
        await connection.execute(query("rebuilds", "drop_versions_before"), ids, sequences)
    if page.versions:
        await connection.executemany(query("rebuilds", "store_version"), map(version_row, page.versions))


async def queue_state(connection: Connection) -> None:
    rows = await connection.fetch(query("rebuilds", "behind_in_state"))
    kept = [row["memory_id"] for row in rows if not row["gone"]]
    memories = {
        memory.memory_id: memory for memory in memories_from(await connection.fetch(query("memories", "by_ids"), kept))
    }
    for row in rows:
        if row["gone"]:
            record = writer.tombstone_record(row["memory_id"], row["namespace"], row["version"], row["sequence"])
        elif (memory := memories.get(row["memory_id"])) is not None:
            record = writer.state_record(memory)
        else:
            continue  # concluded before, and changed since
        await put_records(connection, row["namespace"], [record])


def version_row(told: RebuiltVersion) -> tuple[Any, ...]:
    after = told.after
    return (
        *(after.memory_id, after.version, after.namespace, told.change),
        *(told.before, after, told.cause, told.at),
    )


def latest(told: Iterable[RebuiltMemory]) -> dict[str, RebuiltMemory]:
    """Of each memory what is told under the highest sequence, wherever it stands."""
    return {each.memory_id: each for each in sorted(told, key=lambda each: each.sequence)}
