"""Exports, statistics and listings over fake memories."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec.structs import replace

from schemas.access.keys import covers
from schemas.errors import Retryable
from schemas.memories.memories import Memory, Status
from sinks.memories.insights import NamespaceDay
from sinks.memories.kinds import UsedKind
from sinks.memories.namespaces import NamespaceSummary
from sinks.memories.reader import MemoryVersion
from sinks.memories.statistics import MemoryCost, Statistics
from tests.fakes.memories import FakeMemories


class FakeExports:
    """Pages of at most `size` memories; raises Retryable from the `fails_at`-th page on. `most_at_once` is the greatest
    number of memories whose versions were requested at once."""

    def __init__(self, memories: FakeMemories, size: int = 2) -> None:
        self._memories = memories
        self._size = size
        self.fails_at = 0
        self.calls = 0
        self.most_at_once = 0

    async def existing(self, namespaces: Collection[str]) -> tuple[str, ...]:
        return tuple(sorted({each.namespace for each in self._memories.rows.values()}.intersection(namespaces)))

    async def page(self, namespace: str, after_id: str, statuses: Sequence[Status], limit: int) -> tuple[Memory, ...]:
        self.calls += 1
        if self._memories.down or self.calls == self.fails_at:
            raise Retryable("PostgreSQL failed while exporting memories: it is down")
        wanted = [
            memory
            for _, memory in sorted(self._memories.rows.items())
            if memory.namespace == namespace and memory.memory_id > after_id and memory.status in statuses
        ]
        return tuple(wanted[: min(self._size, limit)])

    async def versions(self, memory_ids: Sequence[str]) -> dict[str, tuple[MemoryVersion, ...]]:
        self.most_at_once = max(self.most_at_once, len(memory_ids))
        rows = self._memories.version_rows
        return {each: tuple(row for row in rows if row.memory_id == each) for each in memory_ids}


class FakeStatistics:
    """The counts of memories by status and kind; everything else is zero."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories

    async def of(self, namespace: str) -> Statistics:
        if self._memories.down:
            raise Retryable("PostgreSQL failed while reading statistics of a namespace: it is down")
        own = [memory for memory in self._memories.rows.values() if memory.namespace == namespace]
        live = sum(memory.status == "active" for memory in own)
        return Statistics(
            namespace=namespace,
            live=live,
            statuses=dict(Counter(memory.status for memory in own)),
            kinds=dict(Counter(memory.kind for memory in own if memory.status == "active")),
            tags={},
            pinned=0,
            reinforcements=0,
            versions=0,
            sequence=0,
            reads=0,
        )

    async def cost_of(self, memory_id: str, namespace: str) -> MemoryCost:
        return MemoryCost(memory_id=memory_id, requests=1, calls=2, tokens=300, cost_usd=0.000135)


class FakeKinds:
    """The kinds of fake memories, and described ones by namespace."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self.described: dict[str, tuple[UsedKind, ...]] = {}

    async def of(self, namespace: str) -> tuple[UsedKind, ...]:
        if self._memories.down:
            raise Retryable("PostgreSQL failed while listing kinds: it is down")
        live = [each for each in self._memories.rows.values() if (each.namespace, each.status) == (namespace, "active")]
        counts = Counter(kind for each in live for kind in (each.kind, *each.kinds))
        known = {kind.name: kind for kind in self.described.get(namespace, ())}
        return tuple(
            replace(known.get(name, UsedKind(name=name)), memories=counts[name])
            for name in sorted(counts.keys() | known.keys())
        )


class FakeInsights:
    """`known_days` are the days; each live memory costs one cent per letter of its id."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories
        self.known_days: list[NamespaceDay] = []
        self.periods: list[tuple[str, datetime, datetime]] = []

    async def days(self, namespace: str, since: datetime, until: datetime) -> tuple[NamespaceDay, ...]:
        if self._memories.down:
            raise Retryable("PostgreSQL failed while counting daily activity: it is down")
        self.periods.append((namespace, since, until))
        return tuple(day for day in self.known_days if since.date() <= day.day <= until.date())

    async def costliest(self, namespace: str, limit: int) -> tuple[MemoryCost, ...]:
        own = [each for each in self._memories.rows.values() if each.namespace == namespace]
        costs = [
            MemoryCost(memory_id=each.memory_id, requests=1, calls=1, tokens=100, cost_usd=len(each.memory_id) / 100)
            for each in own
        ]
        return tuple(sorted(costs, key=lambda cost: -cost.cost_usd)[:limit])


class FakeNamespaces:
    """The namespaces of fake memories."""

    def __init__(self, memories: FakeMemories) -> None:
        self._memories = memories

    async def page(
        self, patterns: Collection[str], *, containing: str, after: str, limit: int
    ) -> tuple[NamespaceSummary, ...]:
        if self._memories.down:
            raise Retryable("PostgreSQL failed while listing namespaces: it is down")
        live = Counter({each.namespace: 0 for each in self._memories.rows.values() if each.status != "deleted"})
        live.update(each.namespace for each in self._memories.rows.values() if each.status == "active")
        found = [
            NamespaceSummary(namespace=name, live=number)
            for name, number in sorted(live.items())
            if name > after
            and containing.lower() in name.lower()
            and any(covers(pattern, name) for pattern in patterns)
        ]
        return tuple(found[:limit])

    async def largest(self, patterns: Collection[str], *, containing: str, limit: int) -> tuple[NamespaceSummary, ...]:
        every = await self.page(patterns, containing=containing, after="", limit=1_000_000)
        return tuple(
            sorted((each for each in every if each.live), key=lambda each: (-each.live, each.namespace))[:limit]
        )
