"""The budget guard on the ledger: reserves budget for calls, overall and by namespace, and books their cost."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeAlias
from uuid import uuid4

from agents.budgets.arithmetic import charges, waits_until
from agents.budgets.prices import Prices
from agents.models.billing import Bill, PricedWork
from agents.models.port import Usage
from schemas import ids
from schemas.budgets.budgets import Amount, Budget, Level
from schemas.budgets.usage import Consumed, Outcome
from schemas.counts import counted
from schemas.errors import Deferred, Rejected, Retryable
from schemas.policies.shadows import live_namespace_of
from sinks.budgets.ledger import Ledger
from sinks.postgres.connection import storable

log = logging.getLogger(__name__)

# A reservation expires after more seconds than a call with repair, retries and queueing takes: its worker has crashed.
LASTS_S: Final = 1_800.0
OVERALL: Final = "overall"
# Kept while PostgreSQL is unavailable; there are few, as no call can be reserved then.
MAX_UNBOOKED: Final = 1_000

# Reservation id, usage records, charges by scope, and the scopes that have limits now.
Settlement: TypeAlias = tuple[str, Sequence[Consumed], Mapping[str, Amount], Collection[str]]


class LedgerBudgetGuard:
    """Implements agents.models.billing.BudgetGuard. `overall` is the budget of all namespaces together."""

    def __init__(self, ledger: Ledger, prices: Prices, overall: Budget, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._prices = prices
        self._overall = overall
        self._clock = clock
        self._owed: deque[Settlement] = deque(maxlen=MAX_UNBOOKED)

    async def reserve(self, work: PricedWork, lasts_s: float = LASTS_S) -> str:
        reservation_id = uuid4().hex
        dearest = Bill(model=work.model, usage=work.max_usage)
        budgets = self._budgets(work)
        cost = self._cost(work, dearest)
        if cost == 0:  # a spent budget does not block free calls
            budgets = {scope: budget.in_tokens_only() for scope, budget in budgets.items()}
        elif cost is None and any(budget.in_money for budget in budgets.values()):
            # Start-up checks this; a later policy may limit money.
            log.error(
                "model %s has no price, so budgets in money do not limit its calls: add it to MEMSTREAM_PRICES_FILE",
                work.model,
            )

        def decide(levels: Mapping[str, Level], now: datetime) -> datetime | None:
            waits = [waits_until(budgets[scope], level, work.payer.lane, now) for scope, level in levels.items()]
            return max((until for until in waits if until is not None), default=None)

        if budgets:
            most = self._shares(work, self._amount(work, [dearest]))
            within = {scope: part for scope, part in most.items() if scope in budgets}
            until = await self._ledger.reserve(reservation_id, within, lasts_s, decide)
            if until is not None:
                raise Deferred(until, "budget")
        return reservation_id

    async def settle(self, work: PricedWork, reservation_id: str, bills: Sequence[Bill], outcome: Outcome) -> None:
        consumed = [self._consumed(work, reservation_id, model, bills, outcome) for model in models(bills)]
        shares, limited = self._shares(work, self._amount(work, bills)), self._budgets(work)
        await self._book((reservation_id, consumed, shares, tuple(limited)))

    async def book(self) -> None:
        """Books settlements that failed before. Raises Retryable if they still fail."""
        for _ in range(len(self._owed)):
            await self._book(self._owed.popleft())
        if self._owed:
            raise Retryable(f"{counted(len(self._owed), 'records')} of model calls still to be stored")

    async def close(self) -> None:
        """Books pending settlements if PostgreSQL is up."""
        try:
            await self.book()
        except Retryable as exc:
            log.error("usage of model calls was not recorded before this worker stopped: %s", exc)

    async def _book(self, settlement: Settlement) -> None:
        try:
            await self._ledger.settle(*settlement)
        except Retryable as exc:
            log.warning("recording the usage of a model call failed, trying again later: %s", exc)
            self._owed.append(settlement)
        except asyncio.CancelledError:
            self._owed.append(settlement)
            raise
        except Rejected as exc:
            log.error("the usage of a model call is not recorded: %s", exc)

    def _budgets(self, work: PricedWork) -> dict[str, Budget]:
        """The budgets with limits, by scope."""
        own = {scope_of(namespace): work.payer.budget for namespace in work.payer.namespaces}
        return {scope: budget for scope, budget in {OVERALL: self._overall, **own}.items() if budget.limits}

    def _shares(self, work: PricedWork, amount: Amount) -> dict[str, Amount]:
        """The charge by scope: all of it overall, and an even share for each namespace. Names with the same stored form are
        one scope."""
        shares = {OVERALL: amount}
        for name, share in charges(work.payer.namespaces, amount).items():
            shares[scope_of(name)] = shares.get(scope_of(name), Amount()) + share
        return shares

    def _amount(self, work: PricedWork, bills: Sequence[Bill]) -> Amount:
        """The amount of the bills. The money of unpriced calls is unknown; where money is limited, all models in use have
        prices."""
        tokens = sum(tokens_of(bill.usage) for bill in bills)
        return Amount(tokens, sum(self._cost(work, bill) or 0 for bill in bills))

    def _cost(self, work: PricedWork, bill: Bill) -> int | None:
        return self._prices.cost(work.provider, (bill.model, work.model), bill.usage)

    def _consumed(
        self, work: PricedWork, reservation_id: str, model: str, bills: Sequence[Bill], outcome: Outcome
    ) -> Consumed:
        of_model = [bill for bill in bills if bill.model == model]
        costs = [self._cost(work, bill) for bill in of_model]
        return Consumed(
            usage_id=ids.derive("usage", reservation_id, model),
            at=self._clock(),
            operation=work.operation,
            lane=work.payer.lane,
            outcome=outcome,
            provider=work.provider,
            model=model,
            calls=len(of_model),
            input_tokens=sum(bill.usage.input_tokens for bill in of_model),
            output_tokens=sum(bill.usage.output_tokens for bill in of_model),
            cache_read_tokens=sum(bill.usage.cache_read_tokens for bill in of_model),
            cache_write_tokens=sum(bill.usage.cache_write_tokens for bill in of_model),
            cost_micros=None if None in costs else sum(cost for cost in costs if cost is not None),
            batched=all(bill.usage.batched for bill in of_model),
            namespaces=tuple(map(live_namespace_of, work.payer.namespaces)),
            request_id=work.payer.request_id,
            conversation_id=work.payer.conversation_id,
        )


def scope_of(namespace: str) -> str:
    """The stored name of a scope. A replay is charged to its live namespace."""
    return storable(f"namespace {live_namespace_of(namespace)}")


def models(bills: Sequence[Bill]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(bill.model for bill in bills))


def tokens_of(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens
