"""Extractions in memory: leases by the given clock, and the first answer of each request."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.errors import Rejected
from schemas.extraction.requests import ExtractionRequest
from sinks.extraction.answers import Answered, Held, Lease, Leased


class Row(Struct):
    owner: str | None = None
    until: datetime | None = None
    answer: bytes | None = None
    failed: Rejected | None = None
    told: bool = False


class FakeExtractions:
    """`failures` by method name are raised by its next calls, one each. Several workers may share an instance."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.rows: dict[str, Row] = {}
        self.failures: dict[str, deque[Exception]] = {}
        self.calls: list[str] = []
        self.fences: dict[str, datetime] = {}
        self.person_fences: tuple[Fence, ...] = ()
        self._clock = clock

    async def _raise_failure(self, name: str) -> None:
        self.calls.append(name)
        await asyncio.sleep(0)
        if self.failures.get(name):
            raise self.failures[name].popleft()

    async def lease(self, request: ExtractionRequest, owner: str, lease_s: float) -> Lease:
        await self._raise_failure("lease")
        row = self.rows.setdefault(request.request_id, Row())
        if row.answer is not None:
            return Answered(row.answer)
        if row.owner not in (None, owner) and row.until is not None and row.until > self._clock():
            return Held(row.until)
        if row.failed is not None and not row.told:
            raise Rejected(row.failed.reason, row.failed.detail)
        row.owner, row.until = owner, self._clock() + timedelta(seconds=lease_s)
        return Leased(row.until)

    async def renew(self, request_id: str, owner: str, lease_s: float) -> bool:
        await self._raise_failure("renew")
        row = self.rows[request_id]
        if row.owner != owner or row.answer is not None:
            return False
        row.until = self._clock() + timedelta(seconds=lease_s)
        return True

    async def release(self, request_id: str, owner: str) -> None:
        await self._raise_failure("release")
        row = self.rows[request_id]
        if row.owner == owner and row.answer is None:
            row.owner = row.until = None

    async def fences_of(self, scope: Scope, namespaces: Collection[str]) -> tuple[Fence, ...]:
        await self._raise_failure("fences_of")
        known = [self.fences[name] for name in namespaces if name in self.fences]
        earliest = (Fence(min(known)),) if known and len(known) == len(namespaces) else ()
        return (*earliest, *self.person_fences)

    async def store_answer(self, request_id: str, owner: str, answer_json: bytes, **_: Any) -> bytes:
        await self._raise_failure("store_answer")
        row = self.rows[request_id]
        row.answer = row.answer or answer_json
        return row.answer

    async def fail(self, request_id: str, rejected: Rejected) -> None:
        await self._raise_failure("fail")
        row = self.rows.get(request_id, Row())
        if row.answer is None and (row.until is None or row.until <= self._clock()):
            row.failed, row.told, row.owner, row.until = rejected, False, None, None

    async def mark_failure_reported(self, request_id: str) -> None:
        await self._raise_failure("failure_told")
        if request_id in self.rows:
            self.rows[request_id].told = True
