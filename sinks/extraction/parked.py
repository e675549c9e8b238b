"""Requests that wait for long, in the `parked` table: whole as they came, each claimed under a lease by whoever resumes it."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import asyncpg
from msgspec import Struct
from msgspec.structs import replace

from schemas import codec
from schemas.codec import convert
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred, Rejected
from schemas.extraction.requests import ExtractionRequest, Lane
from sinks.erasure.fences import fences_for
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

log = logging.getLogger(__name__)
T = TypeVar("T")
Fed: TypeAlias = Mapping[Scope, Collection[str]]

SHORTEST_PAUSE_S: Final = 5.0  # before what was put off again is looked at again, whenever that was to be

Headers = tuple[tuple[str, bytes | None], ...]  # Kafka takes a header without a value


class Parked(Struct, frozen=True, kw_only=True):
    """A parked request. What it shares with an aiokafka ConsumerRecord has the same names, so that it can be one's stead.

    `lane` may be another than the request's own: what is past its deadline is live. `tries` failed in a row.
    """

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

    def request(self) -> ExtractionRequest:
        """In its lane of now. Raises Rejected when it does not decode."""
        return replace(codec.decode(self.value, ExtractionRequest), lane=self.lane)


class Parking:
    """The `parked` table, as those use it who park and resume. Every method raises Retryable when PostgreSQL is away."""

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
    ) -> bool:
        """Stores a request that is not parked yet; one that is stays as it is. `record` is an aiokafka ConsumerRecord.

        `value` is the request encoded, where it is not as it came. After `deadline_s` it counts as live. `batched`: it waits
        to be sent in a batch, and is not claimed before its deadline. `fed` are the namespaces that each speaker feeds, `known`
        the fences of all that, as far as they were heeded: False, and nothing is stored, once there are others. Raises Rejected
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
                )
        return True

    async def holds(self, request_id: str) -> bool:
        """Whether it is parked: then whoever resumes it brings it to its end."""
        with translated("looking for a parked request"):
            return bool(await self._pool.fetchval(query("parked", "holds"), request_id))

    async def claim(self, lane: Lane, limit: int, owner: str, lease_s: float) -> list[Parked]:
        """At most `limit` requests of a lane whose time has come and that nobody else has, under a lease of `lease_s`.

        `owner` should name this one claim. With the lane `live` comes what is past its deadline, live from then on. A row that
        is no request is set aside: it is kept with its reason, and never claimed again.
        """
        with translated("claiming parked requests"):
            rows = await self._pool.fetch(query("parked", "claim"), lane, limit, owner, lease_s)
        return await sound(self._pool, rows, of_row)

    async def renew(self, request_id: str, owner: str, lease_s: float) -> bool:
        """Prolongs the owner's lease; False when it has passed to somebody else, or the request is gone."""
        with translated("renewing a parked request's lease"):
            return bool(await self._pool.fetchval(query("parked", "renew"), request_id, owner, lease_s))

    async def put_off(self, request_id: str, owner: str, deferred: Deferred) -> None:
        """Gives the lease back; the request has to wait again, for SHORTEST_PAUSE_S at least."""
        with translated("putting a parked request off"):
            until, reason = deferred.until, deferred.reason
            await self._pool.execute(
                query("parked", "put_off"), request_id, owner, until, storable(reason), SHORTEST_PAUSE_S
            )

    async def try_again(self, request_id: str, owner: str, pause_s: float) -> None:
        """Gives the lease back after a failure that may pass."""
        with translated("giving a parked request back"):
            await self._pool.execute(query("parked", "try_again"), request_id, owner, pause_s)

    async def release(self, request_id: str, owner: str) -> None:
        """Gives the lease back, as if the request had not been claimed."""
        with translated("giving a parked request back"):
            await self._pool.execute(query("parked", "release"), request_id, owner)

    async def remove(self, request_id: str, owner: str) -> None:
        """The request has come to its outcome. Nothing if the lease is somebody else's by now."""
        with translated("removing a parked request"):
            await self._pool.execute(query("parked", "remove"), request_id, owner)

    async def waiting(self) -> dict[Lane, int]:
        """How many are parked, by lane."""
        with translated("counting parked requests"):
            rows = await self._pool.fetch(query("parked", "waiting"))
        return {row["lane"]: row["requests"] for row in rows}


async def sound(pool: Pool, rows: Sequence[asyncpg.Record], made: Callable[[asyncpg.Record], T]) -> list[T]:
    """What is `made` of rows of the table. One of which nothing can be made is set aside: it would stop every worker, one after
    the other."""
    found: list[T] = []
    for row in rows:
        try:
            found.append(made(row))
        except Rejected as rejected:
            log.error("parked request %s is set aside: %s", row["request_id"], rejected)
            with translated("setting a parked request aside"):
                await pool.execute(query("parked", "set_aside"), row["request_id"], storable(str(rejected)))
    return found


def columns(request: ExtractionRequest, deferred: Deferred, deadline_s: float, batched: bool) -> Sequence[Any]:
    """The columns in the statement's order."""
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
