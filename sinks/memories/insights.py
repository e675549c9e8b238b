"""What happened in a namespace day by day, and which of its memories cost most: for charts, counted when it is asked."""

from datetime import date, datetime
from typing import Any

from msgspec import Struct, field

from schemas.budgets.budgets import MICROS
from sinks.memories.statistics import MemoryCost
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class NamespaceDay(Struct, frozen=True, kw_only=True):
    """A day in UTC: `changes` of memories by what they were (`created`, `reinforced`, `superseded`, ...), and the namespace's
    even share of model calls. `cost_usd` leaves out calls whose price is not known."""

    day: date
    changes: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Insights:
    """Reads `memory_versions` and `model_usage`. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def days(self, namespace: str, since: datetime, until: datetime) -> tuple[NamespaceDay, ...]:
        """From `since` on, before `until`, the earliest first; days on which nothing happened are missing."""
        with translated("counting what happened day by day"):
            changed = await self._pool.fetch(query("insights", "changes_by_day"), namespace, since, until)
            spent = await self._pool.fetch(query("insights", "usage_by_day"), storable(namespace), since, until)
        return days_from(changed, spent)

    async def costliest(self, namespace: str, limit: int) -> tuple[MemoryCost, ...]:
        """The memories that are there whose extractions cost most, the costliest first."""
        with translated("adding up what memories cost"):
            rows = await self._pool.fetch(query("insights", "costliest"), storable(namespace), limit)
        return tuple(cost_from(row) for row in rows)


def days_from(changed: list[Any], spent: list[Any]) -> tuple[NamespaceDay, ...]:
    found: dict[date, dict[str, Any]] = {}
    for row in changed:
        found.setdefault(row["day"], {"changes": {}})["changes"][row["change"]] = row["changes"]
    for row in spent:
        usage = {"calls": row["calls"], "tokens": row["tokens"], "cost_usd": row["micros"] / MICROS}
        found.setdefault(row["day"], {}).update(usage)
    return tuple(NamespaceDay(day=day, **fields) for day, fields in sorted(found.items()))


def cost_from(row: Any) -> MemoryCost:
    return MemoryCost(
        memory_id=row["memory_id"],
        requests=row["requests"],
        calls=row["calls"],
        tokens=row["tokens"],
        cost_usd=row["micros"] / MICROS,
    )
