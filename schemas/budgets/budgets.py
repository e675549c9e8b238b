"""Budgets of model calls ("energy"), and amounts of what they count: tokens, and money in millionths of a US dollar."""

from typing import Annotated

from msgspec import Meta, Struct, structs

MICROS = 1_000_000  # of a US dollar

Tokens = Annotated[int, Meta(ge=0, le=2**53)]
Dollars = Annotated[float, Meta(ge=0.0, le=1e9)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class Budget(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What may be spent on models in an hour and in a day of UTC; None is no limit, 0 is nothing at all.

    Tokens are all that are billed, cached ones too. Background work waits while less than `background_reserve` of a limit
    remains; live work may use it all.
    """

    tokens_per_hour: Tokens | None = None
    tokens_per_day: Tokens | None = None
    usd_per_hour: Dollars | None = None
    usd_per_day: Dollars | None = None
    background_reserve: Share = 0.2

    @property
    def limits(self) -> bool:
        """Whether it limits anything."""
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
        """As even as whole numbers allow, larger shares first; the shares come to the amount."""
        return tuple(
            Amount(_share(self.tokens, count, place), _share(self.micros, count, place)) for place in range(count)
        )


def _share(whole: int, count: int, place: int) -> int:
    return whole // count + (place < whole % count)


class Level(Struct, frozen=True, kw_only=True):
    """How much of a budget is gone: spent in this hour and in this day, and reserved by calls under way."""

    hour: Amount = Amount()
    day: Amount = Amount()
    reserved: Amount = Amount()
