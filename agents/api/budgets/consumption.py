"""Usage of model calls, and the rest of the budgets."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from agents.budgets.arithmetic import LimitStatus, limit_statuses
from agents.budgets.energy import OVERALL, scope_of
from schemas.budgets.budgets import MICROS, Budget, Level
from schemas.budgets.usage import Total
from schemas.conversations.messages import Moment
from schemas.policies.policies import PolicySelector


class Records(Protocol):
    """What was consumed (sinks.budgets.usage.UsageRecords). Raises Retryable."""

    async def totals(self, since: datetime, until: datetime, namespace: str | None) -> Sequence[Total]: ...


class Levels(Protocol):
    """What is gone of budgets (sinks.budgets.ledger.Ledger). Raises Retryable."""

    async def levels(self, names: Sequence[str], /) -> Mapping[str, Level]: ...


class Usage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """From `since` on, before `until`. Of a namespace these are its even shares, with its policy's budget; without a namespace
    all together, with the budget of all. `cost_usd` leaves out the `unpriced` records of `totals`, whose price is not known."""

    since: Moment
    until: Moment
    totals: tuple[Total, ...]
    tokens: int
    cost_usd: float
    budget: tuple[LimitStatus, ...]
    namespace: str | None = None


class Consumption:
    """Reads what workers have booked. `overall` is the budget of all namespaces together."""

    def __init__(
        self, records: Records, ledger: Levels, policies: PolicySelector, overall: Budget, clock: Callable[[], datetime]
    ) -> None:
        self._records = records
        self._ledger = ledger
        self._policies = policies
        self._overall = overall
        self._clock = clock

    async def of(self, namespace: str | None, since: datetime, until: datetime) -> Usage:
        """Of one namespace, or of all together. Raises Retryable."""
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

    async def left(self) -> tuple[LimitStatus, ...]:
        """What is left of the budget of all together. Raises Retryable."""
        return await self._limit_statuses(None)

    async def _limit_statuses(self, namespace: str | None) -> tuple[LimitStatus, ...]:
        budget = self._overall if namespace is None else self._policies.governing(namespace).budget
        scope = OVERALL if namespace is None else scope_of(namespace)
        level = (await self._ledger.levels([scope])).get(scope, Level())
        return tuple(limit_statuses(budget, level, self._clock()))


def tokens(total: Total) -> int:
    return total.input_tokens + total.output_tokens + total.cache_read_tokens + total.cache_write_tokens
