"""Limits of what model calls may cost, and the prices that they are counted by."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

LimitName = Literal["tokens_per_hour", "tokens_per_day", "usd_per_hour", "usd_per_day"]
Limits = dict[LimitName, Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]]


class BudgetFields(BaseModel):
    budget: Limits = Field(
        default_factory=dict,
        description="what all namespaces together may spend on models, as JSON: tokens_per_hour, tokens_per_day, "
        "usd_per_hour, usd_per_day",
    )
    chat_budget: Limits = Field(
        default_factory=dict,
        description="what the whole chat system may spend on models, likewise; memory gets MEMSTREAM_MEMORY_SHARE of it",
    )
    memory_share: float = Field(0.05, ge=0.0, le=1.0, description="memory's part of MEMSTREAM_CHAT_BUDGET, at most")
    background_reserve: float = Field(
        0.2, ge=0.0, le=1.0, description="part of these budgets that is kept for live work; policies have their own"
    )
    prices_file: Path | None = Field(None, description="JSON table of model prices, over the built-in one")
