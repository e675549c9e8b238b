"""Erasures in PostgreSQL: their subjects and progress. Their fences are in sinks/erasure/fences.py.

Every table with words of a conversation, or results of them, is erased here or in sinks/erasure/purges.py:
`tests/integration/erasure/test_every_table_is_erased.py` lists all tables.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment, Scope
from schemas.erasure.erasures import Erasure, Fence, Fences
from sinks.access.audit import Audit, Audited
from sinks.erasure.fences import fence, fences, positions
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

How = Literal["purge", "forget"]

# Data of erased conversations other than memories. Each entry has a repeatable statement sweep_* with the erasure's id as its
# parameter; named entries are counted on the receipt. Add a line for a new store.
SWEPT: Final = (
    "passages",
    "messages",
    "answers",
    "parked_requests",
    "findings",
    "window_rows",
    "prunings",
    "user_settings",
)
PAGE: Final = 5_000  # rows per sweep_messages and sweep_passages, and commands per tick


class PlannedNamespace(Struct, frozen=True):
    """A namespace that an erasure affects, with the id of the command to its curator."""

    namespace: str
    how: How
    command_id: str


class ErasedNamespace(Struct, frozen=True, kw_only=True):
    """The counts of what was erased in a namespace; `done_at` is set when all of it is gone."""

    namespace: str
    how: How
    done_at: Moment | None
    memories: int
    versions: int
    vectors: int


class WindowsErased(Struct, frozen=True, kw_only=True):
    """The number of partitions whose owners have answered, and the counts of erased windows and messages."""

    partitions: int
    windows: int
    messages: int
    at: Moment | None


class RemovedCount(Struct, frozen=True, kw_only=True):
    store: str
    removed: int
    at: Moment


class StoredErasure(Struct, frozen=True, kw_only=True):
    """A stored erasure; `remains` is what its receipt lists as left in Kafka."""

    erasure: Erasure
    completed_at: Moment | None
    remains: Any


class Erasures:
    """The tables of erasures. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, erasure: Erasure) -> None:
        """Stores the erasure, sets its fence and writes the audit entry in one transaction. A known id changes nothing."""
        with translated("beginning an erasure"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "lock_archive"))
                await begin(connection, erasure)

    async def get(self, erasure_id: str) -> StoredErasure | None:
        with translated("reading an erasure"):
            row = await self._pool.fetchrow(query("erasures", "get"), erasure_id)
        if row is None:
            return None
        columns = dict(row)
        completed_at, remains = columns.pop("completed_at"), columns.pop("remains")
        return StoredErasure(erasure=erasure_of(columns), completed_at=completed_at, remains=remains)

    async def newest(self) -> Fence | None:
        """The latest fence of all: no fence refuses messages that are newer."""
        with translated("reading the latest erasure"):
            row = await self._pool.fetchrow(query("erasures", "newest"))
        return None if row is None else fence(row)

    async def fences(
        self, namespaces: Collection[str] = (), conversations: Collection[str] = (), users: Collection[str] = ()
    ) -> Fences:
        with translated("reading fences"):
            async with self._pool.acquire() as connection:
                return await fences(connection, namespaces, conversations, users)

    async def claim(self, lease_s: float) -> Erasure | None:
        """Claims an incomplete erasure for `lease_s` seconds; None if there is none."""
        with translated("claiming an erasure"):
            row = await self._pool.fetchrow(query("erasures", "claim"), lease_s)
        return None if row is None else erasure_of(row)

    async def renew(self, erasure_id: str, lease_s: float) -> bool:
        """Renews the lease; False if it has ended."""
        with translated("renewing the lease of an erasure"):
            return bool(await self._pool.fetchval(query("erasures", "renew"), erasure_id, lease_s))

    async def release(self, erasure_id: str, pause_s: float) -> None:
        """Releases the lease; no worker looks at the erasure again before the pause is over."""
        with translated("releasing an erasure"):
            await self._pool.execute(query("erasures", "release"), erasure_id, pause_s)

    async def scopes(self, erasure_id: str) -> tuple[Scope, ...]:
        """The known scopes of the erasure's conversations."""
        with translated("finding the namespaces of conversations"):
            rows = await self._pool.fetch(query("erasures", "scopes"), erasure_id)
        return tuple(convert(dict(row), Scope) for row in rows)

    async def namespaces_fed(self, erasure_id: str) -> tuple[str, ...]:
        """The namespaces with memories of the erasure's conversations."""
        with translated("finding the namespaces of conversations"):
            rows = await self._pool.fetch(query("erasures", "fed"), erasure_id)
        return tuple(row["namespace"] for row in rows)

    async def conversations(self, erasure_id: str) -> frozenset[str]:
        with translated("reading erased conversations"):
            rows = await self._pool.fetch(query("erasures", "of_erasure"), erasure_id)
        return frozenset(row["conversation_id"] for row in rows)

    async def plan(self, erasure_id: str, planned: Sequence[PlannedNamespace]) -> None:
        """Adds namespaces and their shadows to the plan; those that are planned already stay unchanged."""
        named, how = [storable(each.namespace) for each in planned], [each.how for each in planned]
        with translated("planning an erasure"):
            command_ids = [each.command_id for each in planned]
            await self._pool.execute(query("erasures", "plan"), erasure_id, named, how, command_ids)
            await self._pool.execute(query("erasures", "plan_shadows"), erasure_id)

    async def unsent(self, erasure_id: str, how: How, again_s: float) -> tuple[PlannedNamespace, ...]:
        """Planned namespaces whose command was not sent, or so long ago that it may be lost."""
        with translated("reading planned namespaces"):
            rows = await self._pool.fetch(query("erasures", "unsent"), erasure_id, how, again_s, PAGE)
        return tuple(PlannedNamespace(**row) for row in rows)

    async def mark_sent(self, erasure_id: str, namespaces: Collection[str]) -> None:
        with translated("marking erasure commands as sent"):
            await self._pool.execute(query("erasures", "sent"), erasure_id, list(namespaces))

    async def namespaces(self, erasure_id: str) -> tuple[ErasedNamespace, ...]:
        with translated("reading erased namespaces"):
            rows = await self._pool.fetch(query("erasures", "namespaces"), erasure_id)
        return tuple(ErasedNamespace(**row) for row in rows)

    async def count_mixed(self, erasure: Erasure) -> dict[str, int]:
        """The number of memories that stay in each namespace because only some of their sources are erased."""
        with translated("counting memories with other sources"):
            rows = await self._pool.fetch(query("erasures", "mixed"), erasure.erasure_id, erasure.at)
        return {row["namespace"]: row["memories"] for row in rows}

    async def unanswered(self, partitions: Collection[int]) -> tuple[tuple[int, Erasure], ...]:
        """The oldest erasure of each of these partitions that the partition's owner has not answered."""
        with translated("finding unanswered erasures"):
            rows = await self._pool.fetch(query("erasures", "unanswered"), list(partitions))
        return tuple((row["partition"], erasure_of(row)) for row in rows)

    async def answered(self, partitions: Collection[int]) -> dict[int, datetime]:
        """When the owner of each of these partitions last answered an erasure; partitions without an answer are missing."""
        with translated("reading erasure answers of windows"):
            rows = await self._pool.fetch(query("erasures", "answered"), list(partitions))
        return {row["partition"]: row["at"] for row in rows}

    async def answer(
        self, erasure_id: str, partition: int, conversations: Collection[str], messages: int, at: datetime
    ) -> None:
        """Stores the owner's answer: these windows are empty. Fences their conversations."""
        named = [storable(each) for each in conversations]
        with translated("answering for windows"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("erasures", "add_conversations"), erasure_id, named)
                await connection.execute(query("erasures", "quieten_windows"), named)
                values = (erasure_id, partition, len(conversations), messages, at)
                await connection.execute(query("erasures", "answer"), *values)

    async def windows(self, erasure_id: str) -> WindowsErased:
        with translated("counting erased windows"):
            row = await self._pool.fetchrow(query("erasures", "windows"), erasure_id)
        assert row is not None, "sums are one row"
        return WindowsErased(**row)

    async def sweep(self, erasure_id: str, at: datetime) -> None:
        """Deletes and counts the stored data of the erasure's conversations, except memories."""
        for store in SWEPT:
            removed = await self._sweep(erasure_id, store, at)
            while store in ("passages", "messages") and removed >= PAGE:
                removed = await self._sweep(erasure_id, store, at)

    async def _sweep(self, erasure_id: str, store: str, at: datetime) -> int:
        with translated(f"erasing {store}"):
            async with self._pool.acquire() as connection, connection.transaction():
                status = await connection.execute(query("erasures", f"sweep_{store}"), erasure_id)
                removed = int(status.rpartition(" ")[2])
                await connection.execute(query("erasures", "count_removed"), erasure_id, store, removed, at)
        return removed

    async def latest_removal(self) -> datetime | None:
        """The time of the latest point that waits to be deleted from Qdrant with its passage; None if none waits."""
        with translated("reading points to delete"):
            latest: datetime | None = await self._pool.fetchval(query("erasures", "latest_removal"))
        return latest

    async def removes_points(self, noted_before: datetime) -> bool:
        """Whether points noted before that moment still wait to be deleted from Qdrant."""
        with translated("reading points to delete"):
            return bool(await self._pool.fetchval(query("erasures", "pending_removals"), noted_before))

    async def count_removed(self, erasure_id: str, store: str, removed: int, at: datetime) -> None:
        with translated("counting erased data"):
            await self._pool.execute(query("erasures", "count_removed"), erasure_id, store, removed, at)

    async def removed(self, erasure_id: str) -> tuple[RemovedCount, ...]:
        with translated("reading counts of erased data"):
            rows = await self._pool.fetch(query("erasures", "removed"), erasure_id)
        return tuple(RemovedCount(**row) for row in rows)

    async def complete(self, erasure_id: str, at: datetime, remains: Any) -> None:
        with translated("completing an erasure"):
            await self._pool.execute(query("erasures", "complete"), erasure_id, at, remains)


async def begin(connection: Connection, erasure: Erasure) -> None:
    """Stores an erasure within a transaction that holds the archive lock."""
    said = (erasure.user_id, erasure.tenant_id, erasure.app_id, erasure.conversation_id, erasure.namespace)
    values = (erasure.at, erasure.positions, erasure.actor, erasure.reason)
    if not await connection.fetchval(query("erasures", "begin"), erasure.erasure_id, erasure.kind, *said, *values):
        return
    await connection.execute(query("erasures", "find_conversations"), erasure.erasure_id)
    if erasure.namespace is not None:
        await connection.execute(query("purges", "fence"), erasure.namespace, erasure.at, erasure.positions)
    details = {"erasure_id": erasure.erasure_id, "tenant_id": erasure.tenant_id, "app_id": erasure.app_id}
    fields = {name: value for name, value in (details | {"reason": erasure.reason}).items() if value is not None}
    action, subject = f"{erasure.kind}.erase", erasure.subject
    await Audit(connection).record(
        Audited(at=erasure.at, actor=erasure.actor, action=action, subject=subject, details=fields)
    )


def erasure_of(row: Any) -> Erasure:
    """The erasure of a row or a part of one."""
    return convert(dict(row) | {"positions": positions(row)}, Erasure)
