"""Parked requests in the `parked` table: stored as they came, each claimed under a lease by the worker that resumes it."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import asyncpg
from msgspec import Struct
from msgspec.structs import replace

from schemas import codec
from schemas.budgets.budgets import Lane
from schemas.codec import convert
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Rejected
from schemas.extraction.requests import ExtractionRequest
from sinks.erasure.fences import fences_for
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

log = logging.getLogger(__name__)
T = TypeVar("T")
Fed: TypeAlias = Mapping[Scope, Collection[str]]

SHORTEST_PAUSE_S: Final = 5.0  # the shortest pause of a postponed request

Headers = tuple[tuple[str, bytes | None], ...]  # Kafka allows headers without a value


class ShareGroup(Struct, frozen=True):
    """Requests with the same `key` may share a model call. Each adds `tokens`; once a group has `enough` together, its
    requests stop waiting."""

    key: str
    tokens: int
    enough: int


class Parked(Struct, frozen=True, kw_only=True):
    """A parked request. The fields of an aiokafka ConsumerRecord have the same names, so that it can stand in for one.
    `lane` becomes live past the request's deadline. `tries` counts failures in a row. `shares` is the key of requests
    that may share a call, `tokens` this one's part."""

    request_id: str
    lane: Lane
    reason: str
    topic: str
    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes
    headers: Headers
    tries: int = 0
    shares: str | None = None
    tokens: int = 0

    def request(self) -> ExtractionRequest:
        """The request in its current lane. Raises Rejected if it does not decode."""
        return replace(codec.decode(self.value, ExtractionRequest), lane=self.lane)


class Parking:
    """The `parked` table. Every method raises Retryable when PostgreSQL is away."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def park(
        self,
        record: Any,
        request: ExtractionRequest,
        deferred: Deferred,
        deadline_s: float,
        *,
        batched: bool = False,
        value: bytes | None = None,
        fed: Fed | None = None,
        known: Collection[Fence] = (),
        sharing: ShareGroup | None = None,
    ) -> bool:
        """Stores a request; one that is parked already stays unchanged. `record` is an aiokafka ConsumerRecord.

        `value` is the encoded request where it differs from the record's. After `deadline_s` the request counts as live.
        `batched` requests wait for a batch and are not claimed before their deadline. `fed` are the namespaces that each
        speaker feeds, `known` the fences that the request respects: returns False, and stores nothing, if there are others
        by now. With `sharing` it waits for others with its key, until they have enough tokens together. Raises Rejected
        `unstorable`.
        """
        with translated("parking a request"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "share_archive"))
                for scope, namespaces in (fed or {request.scope: ()}).items():
                    if any(each not in known for each in await fences_for(connection, scope, namespaces)):
                        return False
                await connection.execute(
                    query("parked", "park"),
                    *columns(request, deferred, deadline_s, batched),
                    *(record.topic, record.partition, record.offset, record.timestamp),
                    *(record.key, value or record.value, tuple(record.headers), request.requested_at),
                    *((sharing.key, sharing.tokens) if sharing else (None, 0)),
                )
                if sharing is not None:
                    await connection.execute(query("parked", "no_longer"), sharing.key, deferred.reason, sharing.enough)
        return True

    async def holds(self, request_id: str) -> bool:
        """Whether the request is parked: then the worker that resumes it completes it."""
        with translated("finding a parked request"):
            return bool(await self._pool.fetchval(query("parked", "holds"), request_id))

    async def hasten(self, request_id: str, reason: str) -> None:
        """Ends the wait of a request that is parked for this `reason`, unless it failed before: then its own pause counts."""
        with translated("ending the wait of a parked request"):
            await self._pool.execute(query("parked", "hasten"), request_id, reason)

    async def claim(self, lane: Lane, limit: int, owner: str, lease_s: float) -> list[Parked]:
        """Claims at most `limit` due requests of a lane that no worker holds, under a lease of `lease_s` seconds.

        `owner` names this claim. The lane `live` includes requests past their deadline. A row that does not decode is set
        aside with its reason and never claimed again.
        """
        with translated("claiming parked requests"):
            rows = await self._pool.fetch(query("parked", "claim"), lane, limit, owner, lease_s)
        return await decodable_rows(self._pool, rows, of_row)

    async def claim_companions(
        self, first: Parked, reason: str, max_tokens: int, limit: int, owner: str, lease_s: float
    ) -> list[Parked]:
        """Claims requests of the same lane that may share a call with `first` and wait for this `reason`, whether due or
        not: at most `limit`, with at most `max_tokens` together; under a lease, as `claim`."""
        with translated("claiming parked requests"):
            values = (first.shares, first.lane, reason, max_tokens, owner, lease_s, limit)
            rows = await self._pool.fetch(query("parked", "claim_companions"), *values)
        return await decodable_rows(self._pool, rows, of_row)

    async def renew(self, request_id: str, owner: str, lease_s: float) -> bool:
        """Renews the owner's lease; False if another owner has it or the request is gone."""
        with translated("renewing a parked request's lease"):
            return bool(await self._pool.fetchval(query("parked", "renew"), request_id, owner, lease_s))

    async def put_off(self, request_id: str, owner: str, deferred: Deferred) -> None:
        """Releases the lease; the request waits again, at least SHORTEST_PAUSE_S."""
        with translated("postponing a parked request"):
            until, reason = deferred.until, deferred.reason
            await self._pool.execute(
                query("parked", "put_off"), request_id, owner, until, storable(reason), SHORTEST_PAUSE_S
            )

    async def try_again(self, request_id: str, owner: str, pause_s: float) -> None:
        """Releases the lease after a temporary failure and counts it."""
        with translated("releasing a parked request"):
            await self._pool.execute(query("parked", "try_again"), request_id, owner, pause_s)

    async def release(self, request_id: str, owner: str) -> None:
        """Releases the lease as if the request had not been claimed."""
        with translated("releasing a parked request"):
            await self._pool.execute(query("parked", "release"), request_id, owner)

    async def remove(self, request_id: str, owner: str) -> None:
        """Deletes a request that has its outcome; does nothing if the lease has passed to another owner."""
        with translated("removing a parked request"):
            await self._pool.execute(query("parked", "remove"), request_id, owner)

    async def waiting(self) -> dict[Lane, int]:
        """The numbers of parked requests by lane."""
        with translated("counting parked requests"):
            rows = await self._pool.fetch(query("parked", "waiting"))
        return {row["lane"]: row["requests"] for row in rows}


async def decodable_rows(pool: Pool, rows: Sequence[asyncpg.Record], made: Callable[[asyncpg.Record], T]) -> list[T]:
    """Applies `made` to rows of the table. A row that it fails for is set aside: otherwise it would stop one worker after
    the other."""
    found: list[T] = []
    for row in rows:
        try:
            found.append(made(row))
        except Rejected as rejected:
            log.error(
                "parked request %s cannot be read and is set aside (table `parked`): %s", row["request_id"], rejected
            )
            with translated("setting a parked request aside"):
                await pool.execute(query("parked", "set_aside"), row["request_id"], storable(str(rejected)))
    return found


def columns(request: ExtractionRequest, deferred: Deferred, deadline_s: float, batched: bool) -> Sequence[Any]:
    """The column values in the order of the statement."""
    namespaces = [storable(namespace) for namespace in request.namespaces]
    return (
        *(request.request_id, request.conversation_id, namespaces, request.lane),
        *(deferred.reason, deferred.until, deadline_s, batched),
    )


def of_row(row: asyncpg.Record) -> Parked:
    columns = dict(row)
    return convert(
        columns | {"offset": columns.pop("position"), "timestamp": columns.pop("timestamp_ms")},
        Parked,
    )
