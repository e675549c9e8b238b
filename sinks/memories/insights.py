"""Daily counts of changes in a namespace, and its costliest memories: for charts, computed on request."""

from datetime import date, datetime
from typing import Any, Final

from msgspec import Struct, field

from schemas.budgets.budgets import MICROS
from sinks.memories.retrieval_counts import Operation
from sinks.memories.statistics import MemoryCost
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class NamespaceDay(Struct, frozen=True, kw_only=True):
    """A day in UTC: `changes` of memories by kind (`created`, `reinforced`, `superseded`, ...), and the namespace's even
    share of model calls. `cost_usd` leaves out calls of unknown price.

    `contexts` counts context blocks, `contexts_with_memories` those with memories; `searches` counts searches, by tools too,
    `searches_found` those with hits; `reads` counts reads of single memories and list pages, `reads_cached` those answered
    from a process's cache. API processes count these; a crash loses the counts of two seconds.
    """

    day: date
    changes: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    contexts: int = 0
    contexts_with_memories: int = 0
    searches: int = 0
    searches_found: int = 0
    reads: int = 0
    reads_cached: int = 0


FIELDS: Final[dict[Operation, tuple[str, str]]] = {
    "context": ("contexts", "contexts_with_memories"),
    "search": ("searches", "searches_found"),
    "read": ("reads", "reads_cached"),
}


class Insights:
    """Reads `memory_versions`, `model_usage` and `retrieval_counts`. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def days(self, namespace: str, since: datetime, until: datetime) -> tuple[NamespaceDay, ...]:
        """Days from `since` until before `until`, earliest first; days without activity are missing."""
        with translated("counting daily activity"):
            changed = await self._pool.fetch(query("insights", "changes_by_day"), namespace, since, until)
            spent = await self._pool.fetch(query("insights", "usage_by_day"), storable(namespace), since, until)
            retrievals = await self._pool.fetch(
                query("insights", "retrievals_by_day"), storable(namespace), since.date(), until.date()
            )
        return days_from(changed, spent, retrievals)

    async def costliest(self, namespace: str, limit: int) -> tuple[MemoryCost, ...]:
        """The existing memories with the most expensive extractions, costliest first."""
        with translated("adding up costs of memories"):
            rows = await self._pool.fetch(query("insights", "costliest"), storable(namespace), limit)
        return tuple(cost_from(row) for row in rows)


def days_from(changed: list[Any], spent: list[Any], retrievals: list[Any]) -> tuple[NamespaceDay, ...]:
    found: dict[date, dict[str, Any]] = {}
    for row in changed:
        found.setdefault(row["day"], {"changes": {}})["changes"][row["change"]] = row["changes"]
    for row in spent:
        usage = {"calls": row["calls"], "tokens": row["tokens"], "cost_usd": row["micros"] / MICROS}
        found.setdefault(row["day"], {}).update(usage)
    for row in retrievals:
        counts = dict(zip(FIELDS[row["operation"]], (row["asked"], row["found"]), strict=True))
        found.setdefault(row["day"], {}).update(counts)
    return tuple(NamespaceDay(day=day, **fields) for day, fields in sorted(found.items()))


def cost_from(row: Any) -> MemoryCost:
    return MemoryCost(
        memory_id=row["memory_id"],
        requests=row["requests"],
        calls=row["calls"],
        tokens=row["tokens"],
        cost_usd=row["micros"] / MICROS,
    )
