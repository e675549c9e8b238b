"""Budgets of model calls, and amounts: tokens, and money in millionths of a US dollar."""

from typing import Annotated, Literal

from msgspec import Meta, Struct, structs

MICROS = 1_000_000  # of a US dollar

Tokens = Annotated[int, Meta(ge=0, le=2**53)]
Dollars = Annotated[float, Meta(ge=0.0, le=1e9)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Lane = Literal["live", "background"]


class Budget(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits of model calls per hour and per day (UTC). None: no limit; 0: no calls.

    - `tokens_per_hour`, `tokens_per_day`: most tokens that are billed in an hour or a day, cached ones included
    - `usd_per_hour`, `usd_per_day`: most US dollars that are billed in an hour or a day
    - `background_reserve`: share of a limit that only live requests use; background requests wait while less remains
    """

    tokens_per_hour: Tokens | None = None
    tokens_per_day: Tokens | None = None
    usd_per_hour: Dollars | None = None
    usd_per_day: Dollars | None = None
    background_reserve: Share = 0.2

    @property
    def limits(self) -> bool:
        """Whether any limit is set."""
        return self.in_tokens or self.in_money

    @property
    def in_tokens(self) -> bool:
        return self.tokens_per_hour is not None or self.tokens_per_day is not None

    @property
    def in_money(self) -> bool:
        return self.usd_per_hour is not None or self.usd_per_day is not None

    def in_tokens_only(self) -> "Budget":
        return structs.replace(self, usd_per_hour=None, usd_per_day=None)


class Amount(Struct, frozen=True):
    """Tokens, and `micros`: millionths of a US dollar."""

    tokens: int = 0
    micros: int = 0

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(self.tokens + other.tokens, self.micros + other.micros)

    def split(self, count: int) -> tuple["Amount", ...]:
        """Splits the amount as evenly as whole numbers allow, larger shares first; the shares add up to the amount."""
        return tuple(
            Amount(_share(self.tokens, count, place), _share(self.micros, count, place)) for place in range(count)
        )


def _share(whole: int, count: int, place: int) -> int:
    return whole // count + (place < whole % count)


class Level(Struct, frozen=True, kw_only=True):
    """Consumption of a budget: spent in the current hour and day, and reserved by running calls."""

    hour: Amount = Amount()
    day: Amount = Amount()
    reserved: Amount = Amount()
