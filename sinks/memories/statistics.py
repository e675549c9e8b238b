"""Statistics of the memories of a namespace."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from schemas.budgets.budgets import MICROS
from schemas.conversations.messages import Moment
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query

MOST_TAGS: Final = 50


class Statistics(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Figures of a namespace. `live`, `kinds`, `tags`, `pinned` and `mean_importance` count live memories; `tags` has the
    most frequent tags. `live_read` are live memories that were read at least once.

    `versions` counts the stored changes, `sequence` all changes ever. `cost_usd` is the namespace's share of all model calls
    of known price, `cost_per_memory_usd` that per stored memory.
    """

    namespace: str
    live: int
    statuses: dict[str, int]
    kinds: dict[str, int]
    tags: dict[str, int]
    pinned: int
    reinforcements: int
    versions: int
    sequence: int
    reads: int
    mean_importance: float | None = None
    oldest_at: Moment | None = None
    changed_at: Moment | None = None
    last_read_at: Moment | None = None
    live_read: int = 0
    purged_at: Moment | None = None
    cost_usd: float = 0.0
    cost_per_memory_usd: float | None = None


class MemoryCost(Struct, frozen=True, kw_only=True):
    """The cost of the extractions that a memory comes from: each is split evenly among the memories that it changed.
    Ratings, short texts and compactions are not included; the namespace's costs include them."""

    memory_id: str
    requests: int
    calls: int
    tokens: int
    cost_usd: float


class NamespaceStatistics:
    """Counts on request."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, namespace: str) -> Statistics:
        """The statistics; all zero for an unknown namespace. Raises Retryable."""
        with translated("reading statistics of a namespace"):
            groups = await self._pool.fetch(query("statistics", "of_namespace"), namespace)
            tags = await self._pool.fetch(query("statistics", "tags"), namespace, MOST_TAGS)
            counters: Any = await self._pool.fetchrow(query("statistics", "counters"), namespace)
            micros: int = await self._pool.fetchval(query("statistics", "cost"), storable(namespace))
        found = statistics_from(namespace, groups, {row["tag"]: row["memories"] for row in tags}, counters)
        each = micros / counters["made"] / MICROS if counters["made"] and micros else None
        return replace(found, cost_usd=micros / MICROS, cost_per_memory_usd=each)

    async def cost_of(self, memory_id: str, namespace: str) -> MemoryCost:
        """The cost; zero if no model call is recorded for the memory. Raises Retryable."""
        with translated("adding up the cost of a memory"):
            row: Any = await self._pool.fetchrow(query("statistics", "cost_of_memory"), memory_id, storable(namespace))
        return MemoryCost(
            memory_id=memory_id,
            requests=row["requests"],
            calls=row["calls"],
            tokens=row["tokens"],
            cost_usd=row["micros"] / MICROS,
        )


def statistics_from(namespace: str, groups: Sequence[Any], tags: dict[str, int], counters: Any) -> Statistics:
    live = [row for row in groups if row["status"] == "active"]
    number = sum(row["memories"] for row in live)
    statuses: Counter[str] = Counter()
    for row in groups:
        statuses[row["status"]] += row["memories"]
    return Statistics(
        namespace=namespace,
        live=number,
        statuses=dict(statuses),
        kinds={row["kind"]: row["memories"] for row in sorted(live, key=lambda row: (-row["memories"], row["kind"]))},
        tags=tags,
        pinned=sum(row["pinned"] for row in live),
        reinforcements=sum(row["reinforcements"] for row in groups),
        versions=counters["versions"],
        sequence=counters["sequence"],
        reads=counters["reads"],
        mean_importance=round(sum(row["importance"] for row in live) / number, 4) if number else None,
        oldest_at=min((row["oldest"] for row in groups), default=None),
        changed_at=max((row["latest"] for row in groups), default=None),
        last_read_at=counters["last_read_at"],
        live_read=counters["live_read"],
        purged_at=counters["purged_at"],
    )
