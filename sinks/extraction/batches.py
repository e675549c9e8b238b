"""Batches of parked requests on their way through a provider, in the `batches` table and in their members' rows."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import uuid4

import asyncpg
from msgspec import Struct

from schemas.codec import convert
from schemas.errors import Deferred
from sinks.extraction.parked import Parked, of_row, sound
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

FORMING_LOCK: Final = 0x6D656D62617463  # any number will do; this one spells "membatc"
KEPT_S: Final = 30 * 86_400.0  # ended ones; the API keeps results for 29 days

State = Literal["forming", "submitting", "submitted", "ended"]


class Bounds(NamedTuple):
    """A batch is formed of what waits once that is so many requests or bytes, or one has waited for so long; and is no larger."""

    requests: int
    bytes: int
    wait_s: float


class Waiting(NamedTuple):
    """A request that waits for a batch."""

    request_id: str
    bytes: int
    waited_s: float


class Batch(Struct, frozen=True, kw_only=True):
    """A claimed batch. `forming`: nothing is sent. `submitting`: it was, `sent_s_ago`, and nobody knows whether it was taken."""

    batch_key: str
    state: State
    requests: int
    looks: int
    provider_id: str | None = None
    sent_at: datetime | None = None
    sent_s_ago: float | None = None


class Member(Struct, frozen=True, kw_only=True):
    """A request of a batch; `related` are ids of the memories that its prompt shows, in their order. `reservation` is what of
    the budgets is kept for it; it stays with a request that waits for another batch."""

    parked: Parked
    related: tuple[str, ...] = ()
    reservation: str | None = None


class QuestionContext(Struct, frozen=True, kw_only=True):
    """What has to be known of a question when its reply is there."""

    related: tuple[str, ...]
    reservation: str | None = None


class Batches:
    """Every method raises Retryable when PostgreSQL is away. What an owner's lease is needed for does nothing without it."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def form(self, bounds: Bounds) -> str | None:
        """Puts what waits into a new batch if that is worth one, and returns its key. One at a time, among all workers."""
        with translated("forming a batch"):
            async with self._pool.acquire() as connection, connection.transaction():
                if not await connection.fetchval(query("batches", "one_at_a_time"), FORMING_LOCK):
                    return None
                rows = await connection.fetch(query("batches", "candidates"), bounds.requests)
                chosen = worth_a_batch([Waiting(*row) for row in rows], bounds)
                return await self._formed(connection, chosen) if chosen else None

    async def _formed(self, connection: Connection, request_ids: Sequence[str]) -> str:
        batch_key = uuid4().hex
        await connection.execute(query("batches", "form"), batch_key, len(request_ids))
        await connection.execute(query("batches", "put_in"), batch_key, request_ids)
        return batch_key

    async def claim(self, owner: str, lease_s: float) -> Batch | None:
        """A batch that it is time to look at, under a lease. `owner` should name this one claim."""
        with translated("claiming a batch"):
            row = await self._pool.fetchrow(query("batches", "claim"), owner, lease_s)
        return convert(dict(row), Batch) if row else None

    async def renew(self, batch_key: str, owner: str, lease_s: float) -> bool:
        with translated("renewing a batch's lease"):
            return bool(await self._pool.fetchval(query("batches", "renew"), batch_key, owner, lease_s))

    async def later(self, batch_key: str, owner: str, pause_s: float) -> None:
        """Gives the lease back; the batch is looked at again after a pause."""
        with translated("giving a batch back"):
            await self._pool.execute(query("batches", "later"), batch_key, owner, pause_s)

    async def members(self, batch_key: str) -> list[Member]:
        """All that are still in it, in the order in which they were parked."""
        with translated("reading a batch"):
            rows = await self._pool.fetch(query("batches", "members"), batch_key)
        return await sound(self._pool, rows, member)

    async def member(self, batch_key: str, request_id: str) -> Member | None:
        with translated("reading a batch's request"):
            rows = await self._pool.fetch(query("batches", "member"), batch_key, request_id)
        return next(iter(await sound(self._pool, rows, member)), None)

    async def ask(self, batch_key: str, owner: str, request_id: str, asked_with: QuestionContext) -> bool:
        """Stores what a member's question was made of. False if the lease is somebody else's by now, or the member is gone."""
        with translated("storing what a batch asks"):
            values = (batch_key, owner, request_id, list(asked_with.related), asked_with.reservation)
            return bool(await self._pool.fetchval(query("batches", "asked_with"), *values))

    async def submitting(self, batch_key: str, owner: str, requests: int) -> bool:
        """To be called before a batch is sent: from now on it may have been. False if the lease is somebody else's by now."""
        with translated("storing that a batch is sent"):
            return bool(await self._pool.fetchval(query("batches", "submitting"), batch_key, owner, requests))

    async def submitted(self, batch_key: str, owner: str, provider_id: str, pause_s: float) -> None:
        """The provider has it, under its own id; it is looked at after a pause."""
        with translated("storing a batch's id"):
            await self._pool.execute(query("batches", "submitted"), batch_key, owner, provider_id, pause_s)

    async def known(self, provider_ids: Collection[str]) -> set[str]:
        """Those of the ids that are batches of this table."""
        with translated("comparing batches"):
            rows = await self._pool.fetch(query("batches", "known"), list(provider_ids))
        return {row["provider_id"] for row in rows}

    async def dissolve(self, batch_key: str, owner: str, pause_s: float) -> None:
        """It was not sent: its members wait for another one, which is formed after a pause at the earliest."""
        with translated("dissolving a batch"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("batches", "back"), batch_key, owner, pause_s)
                await connection.execute(query("batches", "dissolve"), batch_key, owner)

    async def leave(
        self, batch_key: str, owner: str, request_id: str, deferred: Deferred, *, batched: bool = False
    ) -> None:
        """A request leaves the batch: it waits for another one if `batched`, else it is asked alone, when `deferred` says."""
        with translated("taking a request out of a batch"):
            reason = storable(deferred.reason)
            values = (batch_key, owner, request_id, batched, reason, deferred.until)
            await self._pool.execute(query("batches", "leave"), *values)

    async def finish(self, batch_key: str, owner: str, request_id: str) -> None:
        """A request of the batch has come to its outcome."""
        with translated("removing a request of a batch"):
            await self._pool.execute(query("batches", "finish"), batch_key, owner, request_id)

    async def end(self, batch_key: str, owner: str, reason: str) -> None:
        """It is over: whatever is left in it is asked alone, as of now, for this reason."""
        with translated("ending a batch"):
            async with self._pool.acquire() as connection, connection.transaction():
                if await connection.fetchval(query("batches", "end"), batch_key, owner):
                    await connection.execute(query("batches", "all_leave"), batch_key, storable(reason))

    async def forget(self) -> None:
        """Removes what is known of batches that ended long ago."""
        with translated("forgetting batches"):
            await self._pool.execute(query("batches", "forget"), KEPT_S)


def worth_a_batch(waiting: Sequence[Waiting], bounds: Bounds) -> list[str]:
    """Those of the waiting requests that make a batch; none if they may wait for more. A request above the bound goes alone."""
    chosen: list[str] = []
    size = 0
    for each in waiting[: bounds.requests]:
        if chosen and size + each.bytes > bounds.bytes:
            return chosen
        chosen.append(each.request_id)
        size += each.bytes
    full = len(chosen) == bounds.requests or size >= bounds.bytes
    return chosen if full or any(each.waited_s >= bounds.wait_s for each in waiting) else []


def member(row: asyncpg.Record) -> Member:
    return Member(parked=of_row(row), related=tuple(row["related"]), reservation=row["reservation"])
