"""The extractor's memory: who is asking a model about a slice, and what it answered (guarantee 4)."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, TypeAlias

from msgspec import Struct

from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from sinks.erasure.fences import fences_for
from sinks.postgres.connection import Pool, storable_json, translated
from sinks.postgres.queries import query


class Leased(Struct, frozen=True):
    """Ask the model: nobody else will before `until`, unless the lease is renewed beyond it."""

    until: datetime


class Answered(Struct, frozen=True):
    """Do not ask: `answer` is the stored answer's JSON."""

    answer: bytes


class Held(Struct, frozen=True):
    """Wait: another owner's call may be running until `until`."""

    until: datetime


Lease: TypeAlias = Leased | Answered | Held


class Extractions:
    """The `extractions` table, as the extractor uses it; the curator's part of it is in sinks/memories/settlements.py."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def lease(self, request: ExtractionRequest, owner: str, lease_s: float) -> Lease:
        """Leased, Answered or Held. `owner` should name one delivery to one worker: the same owner is granted again.

        Raises Rejected, as whoever asked last, while that has yet to be told: asking again would be paid for again.
        """
        with translated("leasing an extraction"):
            async with self._pool.acquire() as connection:
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
                    # released or erased between the two statements: ask again

    async def renew(self, request_id: str, owner: str, lease_s: float) -> bool:
        """Prolongs the owner's lease; False when it has passed to somebody else, or the answer is stored."""
        with translated("renewing a lease"):
            until = await self._pool.fetchval(query("extractions", "renew"), request_id, owner, lease_s)
        return until is not None

    async def release(self, request_id: str, owner: str) -> None:
        """Gives the owner's lease back, after a call that failed in a way that may pass; nothing if it is not held."""
        with translated("releasing a lease"):
            await self._pool.execute(query("extractions", "release"), request_id, owner)

    async def fences_of(self, scope: Scope, namespaces: Collection[str]) -> tuple[Fence, ...]:
        """Those that hold for what was said in a scope and feeds these namespaces."""
        with translated("asking for fences"):
            async with self._pool.acquire() as connection:
                return await fences_for(connection, scope, namespaces)

    async def answer(self, request_id: str) -> bytes | None:
        """The stored answer's JSON."""
        with translated("reading an answer"):
            state = await self._pool.fetchrow(query("extractions", "state"), request_id)
        return state["answer"].encode() if state and state["answer"] is not None else None

    async def store_answer(
        self, request_id: str, owner: str, answer_json: bytes, *, provider: str, model: str, usage: Any, parts: int
    ) -> bytes:
        """Stores the answer if none is stored, and returns the one that counts: the first one, whoever gave it.

        `usage` is a Struct or builtins. Raises Rejected `unknown_request` when there is no such request: it was never
        leased, or has been erased since.
        """
        text = storable_json(answer_json).decode()
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
        """Records why there will be no answer; nothing if one is stored, or somebody is asking for one."""
        with translated("recording a failure"):
            await self._pool.execute(query("extractions", "fail"), request_id, str(rejected))

    async def failure_told(self, request_id: str) -> None:
        """Its dead letter is there: a later lease is granted, as that may be replayed."""
        with translated("recording a failure"):
            await self._pool.execute(query("extractions", "failure_told"), request_id)


def columns(request: ExtractionRequest) -> tuple[Any, ...]:
    return (
        *(request.request_id, request.conversation_id, request.partition, request.first, request.last),
        *(request.policy, request.policy_version, list(request.namespaces), request.requested_at),
    )
