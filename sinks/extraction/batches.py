"""Batches of parked requests at a provider: the `batches` table, and the rows of their members."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final, Literal, NamedTuple
from uuid import uuid4

import asyncpg
from msgspec import Struct

from schemas.codec import convert
from schemas.errors import Deferred
from sinks.extraction.parked import Parked, decodable_rows, of_row
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

FORMING_LOCK: Final = 0x6D656D62617463  # an arbitrary lock number: "membatc" in ASCII
KEPT_S: Final = 30 * 86_400.0  # seconds that ended batches are kept; the API keeps results for 29 days

State = Literal["forming", "submitting", "submitted", "ended"]


class Bounds(NamedTuple):
    """A batch is formed when its waiting requests reach `requests` or `bytes`, or one has waited `wait_s` seconds. It is
    never larger."""

    requests: int
    bytes: int
    wait_s: float


class Waiting(NamedTuple):
    """A request that waits for a batch."""

    request_id: str
    bytes: int
    waited_s: float


class Batch(Struct, frozen=True, kw_only=True):
    """A claimed batch. `forming`: not sent. `submitting`: sent `sent_s_ago` seconds ago, with an unknown result."""

    batch_key: str
    state: State
    requests: int
    looks: int
    provider_id: str | None = None
    sent_at: datetime | None = None
    sent_s_ago: float | None = None


class Member(Struct, frozen=True, kw_only=True):
    """A request of a batch. `related` are ids of the memories that its prompt shows, in order. `reservation` is its budget
    reservation, which stays when the request moves to another batch."""

    parked: Parked
    related: tuple[str, ...] = ()
    reservation: str | None = None


class QuestionContext(Struct, frozen=True, kw_only=True):
    """The parts of a question that are needed to read its reply."""

    related: tuple[str, ...]
    reservation: str | None = None


class Batches:
    """Every method raises Retryable when PostgreSQL is away. Methods with an `owner` do nothing if the owner's lease has
    ended. Claims and renewals use the pool `leases`, if given, as in Extractions."""

    def __init__(self, pool: Pool, leases: Pool | None = None) -> None:
        self._pool = pool
        self._leases = leases or pool

    async def form(self, bounds: Bounds) -> str | None:
        """Forms a batch of waiting requests if they reach the bounds, and returns its key. Only one worker forms batches at
        a time."""
        with translated("forming a batch"):
            async with self._pool.acquire() as connection, connection.transaction():
                if not await connection.fetchval(query("batches", "one_at_a_time"), FORMING_LOCK):
                    return None
                rows = await connection.fetch(query("batches", "candidates"), bounds.requests)
                chosen = batch_members([Waiting(*row) for row in rows], bounds)
                return await self._formed(connection, chosen) if chosen else None

    async def _formed(self, connection: Connection, request_ids: Sequence[str]) -> str:
        batch_key = uuid4().hex
        await connection.execute(query("batches", "form"), batch_key, len(request_ids))
        await connection.execute(query("batches", "put_in"), batch_key, request_ids)
        return batch_key

    async def claim(self, owner: str, lease_s: float) -> Batch | None:
        """Claims a batch that is due, under a lease; None if there is none. `owner` names this claim."""
        with translated("claiming a batch"):
            row = await self._leases.fetchrow(query("batches", "claim"), owner, lease_s)
        return convert(dict(row), Batch) if row else None

    async def renew(self, batch_key: str, owner: str, lease_s: float) -> bool:
        with translated("renewing a batch's lease"):
            return bool(await self._leases.fetchval(query("batches", "renew"), batch_key, owner, lease_s))

    async def put_back(self, batch_key: str, owner: str, pause_s: float) -> None:
        """Releases the lease; the batch is due again after the pause."""
        with translated("releasing a batch"):
            await self._pool.execute(query("batches", "later"), batch_key, owner, pause_s)

    async def members(self, batch_key: str) -> list[Member]:
        """The requests left in the batch, in the order in which they were parked."""
        with translated("reading a batch"):
            rows = await self._pool.fetch(query("batches", "members"), batch_key)
        return await decodable_rows(self._pool, rows, member)

    async def member(self, batch_key: str, request_id: str) -> Member | None:
        with translated("reading a batch's request"):
            rows = await self._pool.fetch(query("batches", "member"), batch_key, request_id)
        return next(iter(await decodable_rows(self._pool, rows, member)), None)

    async def ask(self, batch_key: str, owner: str, request_id: str, context: QuestionContext) -> bool:
        """Stores the context of a member's question. False if the lease has ended or the member is gone."""
        with translated("storing the context of a batch question"):
            values = (batch_key, owner, request_id, list(context.related), context.reservation)
            return bool(await self._pool.fetchval(query("batches", "store_context"), *values))

    async def submitting(self, batch_key: str, owner: str, requests: int) -> bool:
        """Marks the batch as possibly sent: call it before sending. False if the lease has ended."""
        with translated("marking a batch as sent"):
            return bool(await self._pool.fetchval(query("batches", "submitting"), batch_key, owner, requests))

    async def submitted(self, batch_key: str, owner: str, provider_id: str, pause_s: float) -> None:
        """Stores the provider's id of the batch; it is due again after the pause."""
        with translated("storing the provider's id of a batch"):
            await self._pool.execute(query("batches", "submitted"), batch_key, owner, provider_id, pause_s)

    async def known(self, provider_ids: Collection[str]) -> set[str]:
        """Those of the provider's ids that belong to batches of this table."""
        with translated("comparing batches"):
            rows = await self._pool.fetch(query("batches", "known"), list(provider_ids))
        return {row["provider_id"] for row in rows}

    async def dissolve(self, batch_key: str, owner: str, pause_s: float) -> None:
        """Dissolves a batch that was not sent: its members wait for another batch, which is formed after the pause at the
        earliest."""
        with translated("dissolving a batch"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("batches", "back"), batch_key, owner, pause_s)
                await connection.execute(query("batches", "dissolve"), batch_key, owner)

    async def leave(
        self, batch_key: str, owner: str, request_id: str, deferred: Deferred, *, batched: bool = False
    ) -> None:
        """Takes a request out of the batch: it waits for another one if `batched`, otherwise it is asked alone at the time
        that `deferred` says."""
        with translated("taking a request out of a batch"):
            reason = storable(deferred.reason)
            values = (batch_key, owner, request_id, batched, reason, deferred.until)
            await self._pool.execute(query("batches", "leave"), *values)

    async def finish(self, batch_key: str, owner: str, request_id: str) -> None:
        """Removes a request that has its outcome."""
        with translated("removing a request of a batch"):
            await self._pool.execute(query("batches", "finish"), batch_key, owner, request_id)

    async def end(self, batch_key: str, owner: str, reason: str) -> None:
        """Ends the batch: its remaining requests are asked alone at once, for this reason."""
        with translated("ending a batch"):
            async with self._pool.acquire() as connection, connection.transaction():
                if await connection.fetchval(query("batches", "end"), batch_key, owner):
                    await connection.execute(query("batches", "all_leave"), batch_key, storable(reason))

    async def forget(self) -> None:
        """Deletes batches that ended long ago."""
        with translated("forgetting batches"):
            await self._pool.execute(query("batches", "forget"), KEPT_S)


def batch_members(waiting: Sequence[Waiting], bounds: Bounds) -> list[str]:
    """The waiting requests that form a batch; none if they may wait for more. A request above the bound goes alone."""
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
