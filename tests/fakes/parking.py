"""Parked requests in memory, by the given clock."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from schemas.budgets.budgets import Lane
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Fence
from schemas.errors import Deferred
from schemas.extraction.requests import ExtractionRequest
from sinks.extraction.parked import SHORTEST_PAUSE_S, Fed, Parked, ShareGroup

FencesOf: TypeAlias = Callable[[Scope, Collection[str]], Awaitable[tuple[Fence, ...]]]


class Row(Struct):
    parked: Parked
    not_before: datetime
    deadline: datetime
    batched: bool = False
    owner: str | None = None
    until: datetime | None = None


async def no_fences(scope: Scope, namespaces: Collection[str]) -> tuple[Fence, ...]:
    return ()


class FakeParking:
    """`failures` by method name are raised by its next calls, one each. `fences_of` is that of the extractions. Several
    workers may share an instance."""

    def __init__(self, clock: Callable[[], datetime], fences_of: FencesOf = no_fences) -> None:
        self.fences_of = fences_of
        self.rows: dict[str, Row] = {}
        self.failures: dict[str, deque[Exception]] = {}
        self._clock = clock

    async def _raise_failure(self, name: str) -> None:
        await asyncio.sleep(0)
        if self.failures.get(name):
            raise self.failures[name].popleft()

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
        await self._raise_failure("park")
        for scope, namespaces in (fed or {request.scope: ()}).items():
            if any(each not in known for each in await self.fences_of(scope, namespaces)):
                return False
        parked = Parked(
            request_id=request.request_id,
            lane=request.lane,
            reason=deferred.reason,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            timestamp=record.timestamp,
            key=record.key,
            value=value or record.value,
            headers=tuple(record.headers),
            shares=sharing.key if sharing else None,
            tokens=sharing.tokens if sharing else 0,
        )
        self.rows.setdefault(request.request_id, Row(parked, deferred.until, self._in(deadline_s), batched))
        if sharing is not None:
            together = [row for row in self._waiting(sharing.key, deferred.reason) if row.until is None]
            if sum(row.parked.tokens for row in together) >= sharing.enough:
                for row in together:
                    row.not_before = min(row.not_before, self._clock())
        return True

    def _waiting(self, key: str | None, reason: str) -> list[Row]:
        own = (row for row in self.rows.values() if row.parked.shares == key and row.parked.reason == reason)
        return [row for row in own if row.parked.tries == 0]

    async def claim_companions(
        self, first: Parked, reason: str, max_tokens: int, limit: int, owner: str, lease_s: float
    ) -> list[Parked]:
        await self._raise_failure("claim_companions")
        claimed: list[Parked] = []
        for row in self._waiting(first.shares, reason):
            free = row.until is None or row.until <= self._clock()
            max_tokens -= row.parked.tokens if free else 0
            if len(claimed) < limit and free and max_tokens >= 0 and row.parked.lane == first.lane:
                row.owner, row.until = owner, self._in(lease_s)
                claimed.append(row.parked)
        return claimed

    async def holds(self, request_id: str) -> bool:
        await self._raise_failure("holds")
        return request_id in self.rows

    async def hasten(self, request_id: str, reason: str) -> None:
        await self._raise_failure("hasten")
        row = self.rows.get(request_id)
        if row is not None and row.parked.reason == reason and row.parked.tries == 0:
            row.not_before = min(row.not_before, self._clock())

    async def claim(self, lane: Lane, limit: int, owner: str, lease_s: float) -> list[Parked]:
        await self._raise_failure("claim")
        due = sorted((row for row in self.rows.values() if self._due(row, lane)), key=lambda row: row.not_before)
        for row in due[:limit]:
            row.parked, row.batched = replace(row.parked, lane=lane), False
            row.owner, row.until = owner, self._in(lease_s)
        return [row.parked for row in due[:limit]]

    def _due(self, row: Row, lane: Lane) -> bool:
        now = self._clock()
        if row.until is not None and row.until > now:
            return False
        overdue = lane == "live" and row.parked.lane == "background" and row.deadline <= now
        return overdue or (not row.batched and row.parked.lane == lane and row.not_before <= now)

    async def renew(self, request_id: str, owner: str, lease_s: float) -> bool:
        await self._raise_failure("renew")
        row = self._owned(request_id, owner)
        if row is not None:
            row.until = self._in(lease_s)
        return row is not None

    async def put_off(self, request_id: str, owner: str, deferred: Deferred) -> None:
        await self._raise_failure("put_off")
        if row := self._owned(request_id, owner):
            row.not_before = max(deferred.until, self._in(SHORTEST_PAUSE_S))
            row.parked = replace(row.parked, reason=deferred.reason, tries=0)
            row.owner = row.until = None

    async def try_again(self, request_id: str, owner: str, pause_s: float) -> None:
        await self._raise_failure("try_again")
        if row := self._owned(request_id, owner):
            row.not_before = self._in(pause_s)
            row.parked = replace(row.parked, tries=row.parked.tries + 1)
            row.owner = row.until = None

    async def release(self, request_id: str, owner: str) -> None:
        await self._raise_failure("release")
        if row := self._owned(request_id, owner):
            row.owner = row.until = None

    async def remove(self, request_id: str, owner: str) -> None:
        await self._raise_failure("remove")
        if self._owned(request_id, owner):
            del self.rows[request_id]

    async def waiting(self) -> dict[Lane, int]:
        await self._raise_failure("waiting")
        lanes = [row.parked.lane for row in self.rows.values()]
        return {lane: lanes.count(lane) for lane in set(lanes)}

    def _owned(self, request_id: str, owner: str) -> Row | None:
        row = self.rows.get(request_id)
        return row if row is not None and row.owner == owner else None

    def _in(self, seconds: float) -> datetime:
        return self._clock() + timedelta(seconds=seconds)
