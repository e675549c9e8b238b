"""Budgets of model calls, and the prices that costs are computed from."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

LimitName = Literal["tokens_per_hour", "tokens_per_day", "usd_per_hour", "usd_per_day"]
Limits = dict[LimitName, Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]]


class BudgetFields(BaseModel):
    budget: Limits = Field(
        default_factory=dict,
        description="overall limits for model calls of all namespaces, as JSON: tokens_per_hour, tokens_per_day, "
        "usd_per_hour, usd_per_day",
    )
    chat_budget: Limits = Field(
        default_factory=dict,
        description="limits of the whole chat system for model calls, as JSON like MEMSTREAM_BUDGET; memstream "
        "may use MEMSTREAM_MEMORY_SHARE of them",
    )
    memory_share: float = Field(
        0.05, ge=0.0, le=1.0, description="largest share of MEMSTREAM_CHAT_BUDGET for memstream"
    )
    background_reserve: float = Field(
        0.2,
        ge=0.0,
        le=1.0,
        description="share of these budgets that is reserved for live requests; policies have their own",
    )
    prices_file: Path | None = Field(None, description="JSON file of model prices that replace built-in ones")
