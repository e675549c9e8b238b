"""Usage and budget levels, set by the test."""

from collections.abc import Iterable
from datetime import datetime

from schemas.budgets.budgets import Level
from schemas.budgets.usage import Total
from schemas.errors import Retryable


class FakeUsage:
    """Totals by namespace (None: all) and levels by scope; `periods` are the requested ones."""

    def __init__(self) -> None:
        self.by_namespace: dict[str | None, list[Total]] = {}
        self.by_scope: dict[str, Level] = {}
        self.periods: list[tuple[datetime, datetime]] = []
        self.down = False

    async def totals(self, since: datetime, until: datetime, namespace: str | None) -> list[Total]:
        if self.down:
            raise Retryable("PostgreSQL failed while reading usage: it is down")
        self.periods.append((since, until))
        return self.by_namespace.get(namespace, [])

    async def levels(self, names: Iterable[str]) -> dict[str, Level]:
        return {name: self.by_scope.get(name, Level()) for name in names}
