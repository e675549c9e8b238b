"""Erasures in memory, and their receipts."""

from datetime import datetime
from typing import Any

from schemas.erasure.erasures import Erasure
from sinks.access.audit import Audited
from sinks.erasure.erasures import ErasedNamespace, RemovedCount, StoredErasure, WindowsErased


class FakeErasures:
    """With `complete`, each erasure completes at once. It writes to `audit`, as PostgreSQL does in the same transaction."""

    def __init__(self, audit: Any, complete: bool = True) -> None:
        self.begun: dict[str, Erasure] = {}
        self.remains: list[dict[str, Any]] = []
        self.erased: dict[str, tuple[ErasedNamespace, ...]] = {}
        self.swept: tuple[RemovedCount, ...] = ()
        self.complete = complete
        self._audit = audit

    async def begin(self, erasure: Erasure) -> None:
        if erasure.erasure_id in self.begun:
            return
        action = f"{erasure.kind}.erase"
        done = Audited(at=erasure.at, actor=erasure.actor, action=action, subject=erasure.subject, details={})
        await self._audit.record(done)
        self.begun[erasure.erasure_id] = erasure

    async def get(self, erasure_id: str) -> StoredErasure | None:
        erasure = self.begun.get(erasure_id)
        if erasure is None:
            return None
        done: datetime | None = erasure.at if self.complete else None
        return StoredErasure(erasure=erasure, completed_at=done, remains=self.remains)

    async def namespaces(self, erasure_id: str) -> tuple[ErasedNamespace, ...]:
        return self.erased.get(erasure_id, ())

    async def count_mixed(self, erasure: Erasure) -> dict[str, int]:
        return {}

    async def windows(self, erasure_id: str) -> WindowsErased:
        return WindowsErased(partitions=0, windows=0, messages=0, at=None)

    async def removed(self, erasure_id: str) -> tuple[RemovedCount, ...]:
        return self.swept

    async def conversations(self, erasure_id: str) -> frozenset[str]:
        return frozenset()
