"""Erasures in PostgreSQL: what is to be erased, and how far that is. Their fences are in sinks/erasure/fences.py.

Whatever table holds what somebody said, or what comes of it, is reached here or in sinks/erasure/purges.py, or it holds no words:
`tests/integration/erasure/test_every_table_is_erased.py` has them all.
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

# What goes of an erased conversation outside of memories, each by a statement sweep_* that takes the erasure's id and may be
# repeated; what is named is counted on the receipt. A store of one's own is a line here.
SWEPT: Final = ("passages", "messages", "answers", "parked_requests", "findings", "window_rows", "prunings")
PAGE: Final = 5_000  # rows of sweep_messages, of sweep_passages, and commands of one turn


class PlannedNamespace(Struct, frozen=True):
    """A namespace that an erasure concerns, and the command that says so to its curator."""

    namespace: str
    how: How
    command_id: str


class ErasedNamespace(Struct, frozen=True, kw_only=True):
    """What went of a namespace; `done_at` once all of it has."""

    namespace: str
    how: How
    done_at: Moment | None
    memories: int
    versions: int
    vectors: int


class WindowsErased(Struct, frozen=True, kw_only=True):
    """Of how many partitions the owners have answered, and what went."""

    partitions: int
    windows: int
    messages: int
    at: Moment | None


class RemovedCount(Struct, frozen=True, kw_only=True):
    store: str
    removed: int
    at: Moment


class StoredErasure(Struct, frozen=True, kw_only=True):
    """An erasure as it is kept: `remains` is what its receipt says of Kafka."""

    erasure: Erasure
    completed_at: Moment | None
    remains: Any


class Erasures:
    """Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def begin(self, erasure: Erasure) -> None:
        """From here on its fence stands. It is audited in the same transaction; repeated, nothing happens."""
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
        """The latest fence of all: what is newer than it, no fence refuses."""
        with translated("asking for the latest erasure"):
            row = await self._pool.fetchrow(query("erasures", "newest"))
        return None if row is None else fence(row)

    async def fences(
        self, namespaces: Collection[str] = (), conversations: Collection[str] = (), users: Collection[str] = ()
    ) -> Fences:
        with translated("asking for fences"):
            async with self._pool.acquire() as connection:
                return await fences(connection, namespaces, conversations, users)

    async def claim(self, lease_s: float) -> Erasure | None:
        """One that is not complete, for this caller alone until the lease is over."""
        with translated("claiming an erasure"):
            row = await self._pool.fetchrow(query("erasures", "claim"), lease_s)
        return None if row is None else erasure_of(row)

    async def renew(self, erasure_id: str, lease_s: float) -> bool:
        """False once the lease is over."""
        with translated("renewing the lease of an erasure"):
            return bool(await self._pool.fetchval(query("erasures", "renew"), erasure_id, lease_s))

    async def release(self, erasure_id: str, pause_s: float) -> None:
        """Others, and the same caller, look at it again after the pause."""
        with translated("releasing an erasure"):
            await self._pool.execute(query("erasures", "release"), erasure_id, pause_s)

    async def scopes(self, erasure_id: str) -> tuple[Scope, ...]:
        """Of all that is still known of its conversations."""
        with translated("looking for what conversations fed"):
            rows = await self._pool.fetch(query("erasures", "scopes"), erasure_id)
        return tuple(convert(dict(row), Scope) for row in rows)

    async def namespaces_fed(self, erasure_id: str) -> tuple[str, ...]:
        """The namespaces that its conversations brought something to."""
        with translated("looking for what conversations fed"):
            rows = await self._pool.fetch(query("erasures", "fed"), erasure_id)
        return tuple(row["namespace"] for row in rows)

    async def conversations(self, erasure_id: str) -> frozenset[str]:
        with translated("reading erased conversations"):
            rows = await self._pool.fetch(query("erasures", "of_erasure"), erasure_id)
        return frozenset(row["conversation_id"] for row in rows)

    async def plan(self, erasure_id: str, planned: Sequence[PlannedNamespace]) -> None:
        """Adds namespaces, with their shadows; one that is known stays as it is."""
        named, how = [storable(each.namespace) for each in planned], [each.how for each in planned]
        with translated("planning an erasure"):
            command_ids = [each.command_id for each in planned]
            await self._pool.execute(query("erasures", "plan"), erasure_id, named, how, command_ids)
            await self._pool.execute(query("erasures", "plan_shadows"), erasure_id)

    async def unsent(self, erasure_id: str, how: How, again_s: float) -> tuple[PlannedNamespace, ...]:
        """Some whose commands were not sent yet, or so long ago that they may be lost."""
        with translated("reading planned namespaces"):
            rows = await self._pool.fetch(query("erasures", "unsent"), erasure_id, how, again_s, PAGE)
        return tuple(PlannedNamespace(**row) for row in rows)

    async def mark_sent(self, erasure_id: str, namespaces: Collection[str]) -> None:
        with translated("noting what was sent"):
            await self._pool.execute(query("erasures", "sent"), erasure_id, list(namespaces))

    async def namespaces(self, erasure_id: str) -> tuple[ErasedNamespace, ...]:
        with translated("reading erased namespaces"):
            rows = await self._pool.fetch(query("erasures", "namespaces"), erasure_id)
        return tuple(ErasedNamespace(**row) for row in rows)

    async def mixed(self, erasure: Erasure) -> dict[str, int]:
        """How many memories of which namespaces stay that came of the erased conversations in part."""
        with translated("counting memories that others said too"):
            rows = await self._pool.fetch(query("erasures", "mixed"), erasure.erasure_id, erasure.at)
        return {row["namespace"]: row["memories"] for row in rows}

    async def unanswered(self, partitions: Collection[int]) -> tuple[tuple[int, Erasure], ...]:
        """Of these partitions of windows each with an erasure that its owner has not answered, oldest first."""
        with translated("looking for erasures of windows"):
            rows = await self._pool.fetch(query("erasures", "unanswered"), list(partitions))
        return tuple((row["partition"], erasure_of(row)) for row in rows)

    async def answered(self, partitions: Collection[int]) -> dict[int, datetime]:
        """When owners last answered for each of these partitions of windows, where one ever did."""
        with translated("asking when windows were erased"):
            rows = await self._pool.fetch(query("erasures", "answered"), list(partitions))
        return {row["partition"]: row["at"] for row in rows}

    async def answer(
        self, erasure_id: str, partition: int, conversations: Collection[str], messages: int, at: datetime
    ) -> None:
        """The owner's word that nothing is left in these windows. Their conversations are fenced from then on."""
        named = [storable(each) for each in conversations]
        with translated("answering for windows"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("erasures", "add_conversations"), erasure_id, named)
                await connection.execute(query("erasures", "quieten_windows"), named)
                values = (erasure_id, partition, len(conversations), messages, at)
                await connection.execute(query("erasures", "answer"), *values)

    async def windows(self, erasure_id: str) -> WindowsErased:
        with translated("asking what became of windows"):
            row = await self._pool.fetchrow(query("erasures", "windows"), erasure_id)
        assert row is not None, "sums are one row"
        return WindowsErased(**row)

    async def sweep(self, erasure_id: str, at: datetime) -> None:
        """Removes what is stored of its conversations outside of memories, and counts it."""
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
        """When the last of the points was noted that have to leave Qdrant with their passages; None where none has to."""
        with translated("looking for points to remove"):
            latest: datetime | None = await self._pool.fetchval(query("erasures", "latest_removal"))
        return latest

    async def removes_points(self, noted_before: datetime) -> bool:
        """Whether points noted until then are still to leave Qdrant."""
        with translated("looking for points to remove"):
            return bool(await self._pool.fetchval(query("erasures", "pending_removals"), noted_before))

    async def count_removed(self, erasure_id: str, store: str, removed: int, at: datetime) -> None:
        with translated("counting what was erased"):
            await self._pool.execute(query("erasures", "count_removed"), erasure_id, store, removed, at)

    async def removed(self, erasure_id: str) -> tuple[RemovedCount, ...]:
        with translated("reading what was erased"):
            rows = await self._pool.fetch(query("erasures", "removed"), erasure_id)
        return tuple(RemovedCount(**row) for row in rows)

    async def complete(self, erasure_id: str, at: datetime, remains: Any) -> None:
        with translated("completing an erasure"):
            await self._pool.execute(query("erasures", "complete"), erasure_id, at, remains)


async def begin(connection: Connection, erasure: Erasure) -> None:
    """Within a transaction that holds the archive's lock."""
    said = (erasure.user_id, erasure.tenant_id, erasure.app_id, erasure.conversation_id, erasure.namespace)
    values = (erasure.at, erasure.positions, erasure.actor, erasure.reason)
    if not await connection.fetchval(query("erasures", "begin"), erasure.erasure_id, erasure.kind, *said, *values):
        return
    await connection.execute(query("erasures", "find_conversations"), erasure.erasure_id)
    if erasure.namespace is not None:
        await connection.execute(query("purges", "fence"), erasure.namespace, erasure.at, erasure.positions)
    details = {"erasure_id": erasure.erasure_id, "tenant_id": erasure.tenant_id, "app_id": erasure.app_id}
    told = {name: value for name, value in (details | {"reason": erasure.reason}).items() if value is not None}
    action, subject = f"{erasure.kind}.erase", erasure.subject
    await Audit(connection).record(
        Audited(at=erasure.at, actor=erasure.actor, action=action, subject=subject, details=told)
    )


def erasure_of(row: Any) -> Erasure:
    """Of a row, or what was taken from one."""
    return convert(dict(row) | {"positions": positions(row)}, Erasure)
