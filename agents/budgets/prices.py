"""Prices of model calls: a dated table, and the arithmetic."""

import re
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta, Struct, structs

from agents.models.port import Usage
from schemas import codec
from schemas.errors import Misconfigured, Rejected

PRICES_FILE: Final = Path(__file__).with_name("prices.json")  # read by deploy/wiring

# `claude-haiku-4-5-20251001` is a snapshot of `claude-haiku-4-5`, at the same price.
DATED: Final = re.compile(r"-20\d{6}$")


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens (so millionths of a dollar per token), for calls whose prompt, cached parts included,
    exceeds `above_prompt_tokens`. Raises ValueError for an invalid price."""

    model: str
    input: Decimal
    output: Decimal
    cache_write: Decimal
    cache_read: Decimal
    above_prompt_tokens: Annotated[int, Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        for price in (self.input, self.output, self.cache_write, self.cache_read):
            _require(price)

    def of(self, usage: Usage) -> Decimal:
        """Millionths of a dollar, not rounded."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_write_tokens * self.cache_write
            + usage.cache_read_tokens * self.cache_read
        )


class Prices(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prices as of a day, by exact model name without a trailing date. Models of `free_providers` cost nothing unless
    listed."""

    as_of: date
    source: str
    models: tuple[Price, ...] = ()
    batch_factor: Decimal = Decimal("0.5")
    free_providers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require(self.batch_factor)

    def cost(self, provider: str, models: Sequence[str], usage: Usage) -> int | None:
        """The cost of a call in millionths of a US dollar, rounded up; None if the price is unknown.

        `models` are names by preference: the reply's, then the requested one.
        """
        price = next((found for model in models if (found := self._price(model, usage))), None)
        if price is None:
            return 0 if provider in self.free_providers else None
        exact = price.of(usage) * (self.batch_factor if usage.batched else 1)
        return int(exact.to_integral_value(ROUND_CEILING))

    def knows(self, provider: str, model: str) -> bool:
        return self.cost(provider, (model,), Usage()) is not None

    def overridden(self, own: "Prices") -> "Prices":
        """This table with an operator's over it: for a listed model only the operator's prices count."""
        listed = {price.model for price in own.models}
        kept = tuple(price for price in self.models if price.model not in listed)
        return structs.replace(own, models=own.models + kept, free_providers=own.free_providers or self.free_providers)

    def _price(self, model: str, usage: Usage) -> Price | None:
        prompt = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens
        names = (model, DATED.sub("", model))
        bands = [
            price
            for price in self.models
            if price.model in names and (prompt > price.above_prompt_tokens or not price.above_prompt_tokens)
        ]
        return max(bands, key=lambda price: price.above_prompt_tokens, default=None)


def _require(price: Decimal) -> None:
    if not price.is_finite() or price < 0:
        raise ValueError(f"{price} is not a price: give 0 or more")


def decoded(table: bytes, name: str = PRICES_FILE.name) -> Prices:
    """Decodes the JSON table. Raises Misconfigured if it is invalid."""
    try:
        return codec.decode(table, Prices)
    except Rejected as exc:
        raise Misconfigured(f"{name} is not a table of prices: {exc}") from exc
