"""A budget ledger in memory, and a budget guard that records its calls."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from agents.budgets.arithmetic import day_of, hour_of
from agents.models.billing import Bill, PricedWork
from schemas.budgets.budgets import Amount, Level
from schemas.budgets.usage import Consumed, Outcome
from sinks.budgets.ledger import Decide
from sinks.postgres.connection import storable


class Spent(Struct):
    hour: datetime
    day: datetime
    in_hour: Amount = Amount()
    in_day: Amount = Amount()


class FakeLedger:
    """`failures` are raised by the next calls, one each, before anything is booked. Several workers may share an instance."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.spent: dict[str, Spent] = {}
        self.reservations: dict[tuple[str, str], tuple[Amount, datetime]] = {}
        self.recorded: dict[str, Consumed] = {}
        self.failures: deque[Exception] = deque()
        self._clock = clock

    async def reserve(
        self, reservation_id: str, amounts: Mapping[str, Amount], lasts_s: float, decide: Decide
    ) -> datetime | None:
        await self._raise_failure()
        now = self._clock()
        later = decide(self._levels(amounts, now), now)
        if later is None:
            until = now + timedelta(seconds=lasts_s)
            for name, amount in amounts.items():
                self.reservations[storable(name), reservation_id] = (amount, until)
        return later

    async def settle(
        self,
        reservation_id: str,
        consumed: Sequence[Consumed],
        spent: Mapping[str, Amount],
        limited: Collection[str] | None = None,
    ) -> None:
        await self._raise_failure()
        now = self._clock()
        reserved = {scope for scope, each in self.reservations if each == reservation_id}
        wanted = reserved | {storable(name) for name in (spent if limited is None else limited)}
        new = {each.usage_id: each for each in consumed if each.usage_id not in self.recorded}
        self.recorded |= new
        for scope in wanted:
            self.reservations.pop((scope, reservation_id), None)
        for name, amount in spent.items():
            if new and storable(name) in wanted:
                row = self.spent[storable(name)] = self._row(storable(name), now)
                row.in_hour += amount
                row.in_day += amount

    async def levels(self, names: Sequence[str]) -> dict[str, Level]:
        await self._raise_failure()
        return self._levels(dict.fromkeys(names, Amount()), self._clock())

    def _levels(self, amounts: Mapping[str, Amount], now: datetime) -> dict[str, Level]:
        return {name: self._level(name, now) for name in sorted({storable(name) for name in amounts})}

    def _level(self, name: str, now: datetime) -> Level:
        row = self._row(name, now)
        waiting = [part for (scope, _), (part, until) in self.reservations.items() if scope == name and until > now]
        return Level(hour=row.in_hour, day=row.in_day, reserved=sum(waiting, Amount()))

    def _row(self, name: str, now: datetime) -> Spent:
        """The row of the current hour. An hour that has begun for one worker has begun for all."""
        hour, day = hour_of(now), day_of(now)
        row = self.spent.get(name, Spent(hour, day))
        return Spent(
            max(row.hour, hour),
            max(row.day, day),
            row.in_hour if row.hour >= hour else Amount(),
            row.in_day if row.day >= day else Amount(),
        )

    async def _raise_failure(self) -> None:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.popleft()


class FakeBudgetGuard:
    """Admits every call; `refusals` are raised by the next reservations, one each."""

    def __init__(self) -> None:
        self.priced_work: list[PricedWork] = []
        self.settled: list[tuple[PricedWork, tuple[Bill, ...], Outcome]] = []
        self.refusals: deque[Exception] = deque()

    async def reserve(self, work: PricedWork, lasts_s: float = 600.0) -> str:
        self.priced_work.append(work)
        await asyncio.sleep(0)
        if self.refusals:
            raise self.refusals.popleft()
        return f"reservation-{len(self.priced_work)}"

    async def settle(self, work: PricedWork, reservation_id: str, bills: Sequence[Bill], outcome: Outcome) -> None:
        await asyncio.sleep(0)
        self.settled.append((work, tuple(bills), outcome))
