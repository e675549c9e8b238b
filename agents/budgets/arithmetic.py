"""Arithmetic of budgets: whether a call may begin, and when to retry. Pure."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from schemas.budgets.budgets import MICROS, Amount, Budget, Lane, Level

# Running calls have reserved more than most of them cost: there is room again soon after they end.
AGAIN_S = 30.0
LIMITS: Final = ("tokens_per_hour", "tokens_per_day", "usd_per_hour", "usd_per_day")  # in the order of `limits`


class Limit(NamedTuple):
    """A limit with the amounts spent and reserved, in its own unit; `ends` is when the spent amount resets."""

    limit: int
    spent: int
    reserved: int
    ends: datetime

    def has_room(self, taken: int, reserve: float) -> bool:
        return taken < self.limit and self.limit - taken >= reserve * self.limit


def waits_until(budget: Budget, level: Level, lane: Lane, now: datetime) -> datetime | None:
    """None if a call may begin: spent and reserved amounts are below each limit, and in the background lane the reserve is
    untouched.

    Each call reserves more than it can cost, so only the last admitted call may exceed a limit. Otherwise the time of the
    next attempt: the end of the hour or day, or soon if only running calls are in the way.
    """
    reserve = budget.background_reserve if lane == "background" else 0.0
    full = [limit for limit in limits(budget, level, now) if not limit.has_room(limit.spent + limit.reserved, reserve)]
    return max((retry_at(limit, reserve, now) for limit in full), default=None)


def retry_at(limit: Limit, reserve: float, now: datetime) -> datetime:
    if limit.has_room(limit.spent, reserve):
        return min(limit.ends, now + timedelta(seconds=AGAIN_S))
    return limit.ends


def limits(budget: Budget, level: Level, now: datetime) -> Iterator[Limit]:
    hour, day = hour_of(now) + timedelta(hours=1), day_of(now) + timedelta(days=1)
    if budget.tokens_per_hour is not None:
        yield Limit(budget.tokens_per_hour, level.hour.tokens, level.reserved.tokens, hour)
    if budget.tokens_per_day is not None:
        yield Limit(budget.tokens_per_day, level.day.tokens, level.reserved.tokens, day)
    if budget.usd_per_hour is not None:
        yield Limit(micros(budget.usd_per_hour), level.hour.micros, level.reserved.micros, hour)
    if budget.usd_per_day is not None:
        yield Limit(micros(budget.usd_per_day), level.day.micros, level.reserved.micros, day)


class LimitStatus(Struct, frozen=True, kw_only=True):
    """A limit of a budget and its usage, in tokens or dollars; `remains` may be negative by one call."""

    limit: str
    of: float
    spent: float
    reserved: float
    remains: float


def limit_statuses(budget: Budget, level: Level, now: datetime) -> Iterator[LimitStatus]:
    """The status of each limit of the budget."""
    stated = [name for name in LIMITS if getattr(budget, name) is not None]
    for name, limit in zip(stated, limits(budget, level, now), strict=True):
        unit = 1 if name.startswith("tokens") else MICROS
        used = limit.spent + limit.reserved
        parts = {"of": limit.limit, "spent": limit.spent, "reserved": limit.reserved, "remains": limit.limit - used}
        yield LimitStatus(
            limit=name, **{part: amount if unit == 1 else amount / unit for part, amount in parts.items()}
        )


def memory_budget(stated: Budget, chat: Budget, share: float) -> Budget:
    """The memory's budget: the configured one, limited to its share of the chat system's budget."""
    hourly = _least(stated.tokens_per_hour, chat.tokens_per_hour, share)
    daily = _least(stated.tokens_per_day, chat.tokens_per_day, share)
    return Budget(
        tokens_per_hour=None if hourly is None else int(hourly),
        tokens_per_day=None if daily is None else int(daily),
        usd_per_hour=_least(stated.usd_per_hour, chat.usd_per_hour, share),
        usd_per_day=_least(stated.usd_per_day, chat.usd_per_day, share),
        background_reserve=stated.background_reserve,
    )


def _least(stated: float | None, whole: float | None, share: float) -> float | None:
    part = None if whole is None else whole * share
    return min((limit for limit in (stated, part) if limit is not None), default=None)


def micros(dollars: float) -> int:
    return round(dollars * MICROS)


def hour_of(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def day_of(moment: datetime) -> datetime:
    return hour_of(moment).replace(hour=0)


def charges(namespaces: tuple[str, ...], amount: Amount) -> dict[str, Amount]:
    """The even share of a call's cost by namespace."""
    return dict(zip(namespaces, amount.split(len(namespaces)), strict=True)) if namespaces else {}
