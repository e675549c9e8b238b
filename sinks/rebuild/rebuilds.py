"""Rebuilds a database from `memory.state` and `memory.events`: applies what records say page by page, then derives the rest.

A page and the position behind it commit together, so an interrupted rebuild resumes. Nothing overwrites a later change, so
pages may repeat, and the two topics may come in any order.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from schemas.erasure.erasures import Fence
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.erasure.erased_memories import ErasedMemories, messages_from
from sinks.erasure.purges import Purges
from sinks.memories import writer
from sinks.memories.reader import memories_from
from sinks.outbox.projector import put_records
from sinks.postgres.connection import Connection, Pool, translated
from sinks.postgres.queries import query

Partition: TypeAlias = tuple[str, int]


class RebuiltMemory(Struct, frozen=True, kw_only=True):
    """The state of a memory in a record; with `memory` None it is gone.

    `in_state` is True for a record of `memory.state`. Only events mark memories as `erased`, of which less is kept than of
    deleted ones.
    """

    memory_id: str
    namespace: str
    version: int
    sequence: int
    memory: Memory | None
    in_state: bool
    erased: bool = False


class RebuiltVersion(Struct, frozen=True, kw_only=True):
    """A change of a memory in `memory.events`."""

    change: Change
    before: Memory | None
    after: Memory
    cause: Cause
    at: datetime


class Page(Struct, frozen=True, kw_only=True):
    """The content of some records of one partition: the latest state of each memory, the head of each namespace, the
    erasures.

    `rows` are memories as the table has them, `shells` deleted ones without content, `erased` the erasures of single memories.
    `position` is the next offset to read.
    """

    partition: Partition
    position: int
    latest: Sequence[RebuiltMemory]
    rows: Sequence[dict[str, Any]] = ()
    shells: Sequence[dict[str, Any]] = ()
    heads: Mapping[str, int]
    versions: Sequence[RebuiltVersion] = ()
    erased: Sequence[RebuiltVersion] = ()
    fences: Mapping[str, datetime]


class RebuildCounts(Struct, frozen=True, kw_only=True):
    """Counts of the rebuilt database."""

    memories: int
    namespaces: int
    versions: int


class Rebuilds:
    """The `rebuild_...` tables and the rows written by a rebuild. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def positions(self) -> dict[Partition, int]:
        """The positions of an unfinished rebuild by logical topic and partition; empty without one."""
        return await unfinished(self._pool)

    async def holds_memories(self) -> bool:
        """Whether the database has, or ever had, memories."""
        with translated("checking for memories"):
            return bool(await self._pool.fetchval(query("rebuilds", "holds_memories")))

    async def begin(self, positions: Mapping[Partition, int]) -> None:
        """Begins a rebuild: no worker starts on this database until it ends."""
        topics, partitions = [topic for topic, _ in positions], [partition for _, partition in positions]
        with translated("beginning a rebuild"):
            await self._pool.execute(query("rebuilds", "begin"), topics, partitions, list(positions.values()))

    async def cancel(self) -> None:
        """Cancels a rebuild that has applied nothing yet."""
        with translated("cancelling a rebuild"):
            await self._pool.execute(query("rebuilds", "end"))

    async def apply(self, page: Page) -> None:
        """Applies a page."""
        with translated("rebuilding"):
            async with self._pool.acquire() as connection, connection.transaction():
                await apply_statements(connection, page)
                await apply_versions(connection, page)
                await apply_erasures(connection, page.erased)
                for namespace, at in page.fences.items():
                    await Purges(connection).fence(namespace, Fence(at))
                await connection.execute(query("rebuilds", "advance"), *page.partition, page.position)

    async def derive_rest(self) -> None:
        """Applies the consequences once every record is read: memories without a record are gone, published changes are not
        published again, and states missing from memory.state go into the outbox."""
        with translated("concluding a rebuild"):
            async with self._pool.acquire() as connection, connection.transaction():
                for name in (
                    "drop_unrecorded",
                    "drop_shadows",
                    "drop_lone_versions",
                    "complete_versions",
                    "drop_published",
                ):
                    await connection.execute(query("rebuilds", name))
                await connection.execute(query("hidden_messages", "restore"))
                await queue_state(connection)

    async def fenced(self) -> dict[str, datetime]:
        """The erased namespaces and the times of their erasure."""
        with translated("reading fences"):
            rows = await self._pool.fetch(query("rebuilds", "fenced"))
        return {row["namespace"]: row["purged_at"] for row in rows}

    async def end(self) -> RebuildCounts:
        """Ends the rebuild: workers may start."""
        with translated("ending a rebuild"):
            await self._pool.execute(query("rebuilds", "end"))
            row = await self._pool.fetchrow(query("rebuilds", "standing"))
        return RebuildCounts(**dict(row or {}))


async def unfinished(pool: Pool) -> dict[Partition, int]:
    """The positions of an unfinished rebuild."""
    with translated("checking for an unfinished rebuild"):
        rows = await pool.fetch(query("rebuilds", "positions"))
    return {(row["topic"], row["partition"]): row["position"] for row in rows}


async def apply_statements(connection: Connection, page: Page) -> None:
    if not page.latest:
        return
    execute = connection.execute
    ids, sequences = [each.memory_id for each in page.latest], [each.sequence for each in page.latest]
    await execute(query("rebuilds", "heads"), list(page.heads), list(page.heads.values()))
    await execute(query("rebuilds", "record_latest"), *columns(page.latest))
    await execute(query("rebuilds", "drop_older"), ids, sequences)
    await execute(query("rebuilds", "store"), list(page.rows), False)
    await execute(query("rebuilds", "store"), list(page.shells), True)


def columns(recorded: Sequence[RebuiltMemory]) -> tuple[list[Any], ...]:
    return (
        [each.memory_id for each in recorded],
        [each.namespace for each in recorded],
        [each.version for each in recorded],
        [each.sequence for each in recorded],
        [each.memory is None for each in recorded],
        [each.sequence if each.in_state else 0 for each in recorded],
    )


async def apply_versions(connection: Connection, page: Page) -> None:
    erased = [each for each in page.latest if each.erased]
    if erased:
        ids, sequences = [each.memory_id for each in erased], [each.sequence for each in erased]
        await connection.execute(query("rebuilds", "drop_versions_before"), ids, sequences)
    if page.versions:
        await connection.executemany(query("rebuilds", "store_version"), map(version_row, page.versions))


async def apply_erasures(connection: Connection, erased: Iterable[RebuiltVersion]) -> None:
    erasing = ErasedMemories(connection)
    for each in erased:
        namespace, memory_id, messages = each.after.namespace, each.after.memory_id, each.cause.messages
        await erasing.restore(namespace, memory_id, messages, each.at)
        await erasing.drop_copies(namespace, [memory_id], messages_from(messages))
        if not each.cause.messages_kept:
            await erasing.hide(memory_id)


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


def version_row(recorded: RebuiltVersion) -> tuple[Any, ...]:
    after = recorded.after
    return (
        *(after.memory_id, after.version, after.namespace, recorded.change),
        *(recorded.before, after, recorded.cause, recorded.at),
    )


def latest(recorded: Iterable[RebuiltMemory]) -> dict[str, RebuiltMemory]:
    """The record of each memory with the highest sequence."""
    return {each.memory_id: each for each in sorted(recorded, key=lambda each: each.sequence)}
