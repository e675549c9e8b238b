"""Usage of model calls and the remaining budgets."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from agents.budgets.arithmetic import LimitStatus, limit_statuses
from agents.budgets.budget_guard import OVERALL, scope_of
from schemas.budgets.budgets import MICROS, Budget, Level
from schemas.budgets.usage import Total
from schemas.conversations.messages import Moment
from schemas.policies.policies import PolicySelector


class UsageTotals(Protocol):
    """Reads usage totals (sinks.budgets.usage.UsageRecords). Raises Retryable."""

    async def totals(self, since: datetime, until: datetime, namespace: str | None) -> Sequence[Total]: ...


class BudgetLevels(Protocol):
    """Reads spent and reserved amounts of budgets (sinks.budgets.ledger.Ledger). Raises Retryable."""

    async def levels(self, names: Sequence[str], /) -> Mapping[str, Level]: ...


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Usage from `since` (inclusive) to `until` (exclusive). With a namespace: its equal share of calls that serve several
    namespaces, and its policy's budget. Without a namespace: the usage of all namespaces, and the overall budget.
    `cost_usd` excludes the `unpriced` records of `totals`, whose price is unknown."""

    since: Moment
    until: Moment
    totals: tuple[Total, ...]
    tokens: int
    cost_usd: float
    budget: tuple[LimitStatus, ...]
    namespace: str | None = None


class UsageReport:
    """Reads the usage that workers have recorded. `overall` is the budget of all namespaces together."""

    def __init__(
        self,
        records: UsageTotals,
        ledger: BudgetLevels,
        policies: PolicySelector,
        overall: Budget,
        clock: Callable[[], datetime],
    ) -> None:
        self._records = records
        self._ledger = ledger
        self._policies = policies
        self._overall = overall
        self._clock = clock

    async def of(self, namespace: str | None, since: datetime, until: datetime) -> Usage:
        """Returns the usage of a namespace, or of all namespaces for None. Raises Retryable."""
        totals = tuple(await self._records.totals(since, until, namespace))
        return Usage(
            namespace=namespace,
            since=since,
            until=until,
            totals=totals,
            tokens=sum(map(tokens, totals)),
            cost_usd=sum(total.cost_micros for total in totals) / MICROS,
            budget=await self._limit_statuses(namespace),
        )

    async def remaining_budget(self) -> tuple[LimitStatus, ...]:
        """Returns the status of each limit of the overall budget. Raises Retryable."""
        return await self._limit_statuses(None)

    async def _limit_statuses(self, namespace: str | None) -> tuple[LimitStatus, ...]:
        budget = self._overall if namespace is None else self._policies.governing(namespace).budget
        scope = OVERALL if namespace is None else scope_of(namespace)
        level = (await self._ledger.levels([scope])).get(scope, Level())
        return tuple(limit_statuses(budget, level, self._clock()))


def tokens(total: Total) -> int:
    return total.input_tokens + total.output_tokens + total.cache_read_tokens + total.cache_write_tokens
