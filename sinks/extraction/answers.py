"""Leases and stored answers of extraction requests: at most one model call for a slice."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from schemas.codec import without_nul
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from sinks.erasure.fences import fences_for
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query


class Leased(Struct, frozen=True):
    """The caller may call the model: no other worker will before `until`, unless the lease is renewed."""

    until: datetime


class Answered(Struct, frozen=True):
    """The request has a stored answer (`answer`, JSON): do not call the model."""

    answer: bytes


class Held(Struct, frozen=True):
    """Another owner holds the lease until `until`: wait."""

    until: datetime


Lease: TypeAlias = Leased | Answered | Held


class Extractions:
    """The `extractions` table for the extractor; the curator uses it through sinks/memories/settlements.py.

    Statements about leases use the pool `leases`, if given: a renewal that waits until other statements return their
    connections may come too late, and the paid call is repeated.
    """

    def __init__(self, pool: Pool, leases: Pool | None = None) -> None:
        self._pool = pool
        self._leases = leases or pool

    async def lease(self, request: ExtractionRequest, owner: str, lease_s: float) -> Lease:
        """Takes the lease of a request: Leased, Answered or Held. `owner` names one delivery to one worker; the same owner
        gets its lease again.

        Raises Rejected if the last call failed for good and its dead letter is not written yet: another call would be billed
        again.
        """
        with translated("leasing an extraction"):
            async with self._leases.acquire() as connection:
                while True:
                    until = await connection.fetchval(query("extractions", "lease"), *columns(request), owner, lease_s)
                    if until is not None:
                        return Leased(until)
                    state = await connection.fetchrow(query("extractions", "state"), request.request_id)
                    if state and state["answer"] is not None:
                        return Answered(state["answer"].encode())
                    if state and state["failed_reason"] is not None and state["failed_at"] is None:
                        reason, _, detail = state["failed_reason"].partition(": ")
                        raise Rejected(reason, detail)
                    if state and state["lease_until"] is not None:
                        return Held(state["lease_until"])
                    # released or erased between the two statements: try again

    async def renew(self, request_id: str, owner: str, lease_s: float) -> bool:
        """Renews the owner's lease; False if another owner has it or the answer is stored."""
        with translated("renewing a lease"):
            until = await self._leases.fetchval(query("extractions", "renew"), request_id, owner, lease_s)
        return until is not None

    async def release(self, request_id: str, owner: str) -> None:
        """Releases the owner's lease after a temporary failure; does nothing if the owner does not hold it."""
        with translated("releasing a lease"):
            await self._leases.execute(query("extractions", "release"), request_id, owner)

    async def fences_of(self, scope: Scope, namespaces: Collection[str]) -> tuple[Fence, ...]:
        """The erasure fences for messages of a scope that feed these namespaces."""
        with translated("reading fences"):
            async with self._pool.acquire() as connection:
                return await fences_for(connection, scope, namespaces)

    async def answer(self, request_id: str) -> bytes | None:
        """The stored answer as JSON; None if there is none."""
        with translated("reading an answer"):
            state = await self._pool.fetchrow(query("extractions", "state"), request_id)
        return state["answer"].encode() if state and state["answer"] is not None else None

    async def store_answer(
        self, request_id: str, owner: str, answer_json: bytes, *, provider: str, model: str, usage: Any, parts: int
    ) -> bytes:
        """Stores the answer unless one is stored, and returns the stored one: the first answer counts.

        `usage` is a Struct or builtins. Raises Rejected `unknown_request` if the request was never leased, or was erased
        since.
        """
        text = without_nul(answer_json).decode()
        with translated("storing an answer"):
            values = (request_id, text, provider, model, usage, parts)
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "share_archive"))
                stored = await connection.fetchval(query("extractions", "store_answer"), *values)
        return stored.encode() if isinstance(stored, str) else await self._answer_of_another(request_id, owner)

    async def _answer_of_another(self, request_id: str, owner: str) -> bytes:
        stored = await self.answer(request_id)
        if stored is None:
            raise Rejected(
                "unknown_request", f"{owner} answered {request_id}, which is not in extractions; lease it first"
            )
        return stored

    async def fail(self, request_id: str, rejected: Rejected) -> None:
        """Stores the reason why a request gets no answer; does nothing if an answer is stored or another owner holds the
        lease."""
        with translated("recording a failure"):
            await self._pool.execute(query("extractions", "fail"), request_id, str(rejected))

    async def mark_failure_reported(self, request_id: str) -> None:
        """Notes that the dead letter is written: a replayed letter may lease the request again."""
        with translated("recording a failure"):
            await self._pool.execute(query("extractions", "failure_told"), request_id)


def columns(request: ExtractionRequest) -> tuple[Any, ...]:
    return (
        *(request.request_id, request.conversation_id, request.partition, request.first, request.last),
        *(request.policy, request.policy_version, list(request.namespaces), request.requested_at),
    )
