"""Budgets from the settings: prices, the overall budget, and the guard that enforces budgets."""

from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec.structs import replace

from agents.budgets.arithmetic import memory_budget
from agents.budgets.budget_guard import LedgerBudgetGuard
from agents.budgets.prices import PRICES_FILE, Prices, decoded
from deploy.settings import Settings
from deploy.settings.budgets import Limits
from deploy.settings.defaults import PREFIX
from schemas.budgets.budgets import Budget
from schemas.codec import convert
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies
from sinks.budgets.ledger import Ledger


def budget_guard(
    settings: Settings,
    models: Iterable[tuple[str, str]],
    ledger: Ledger,
    policies: Policies,
    clock: Callable[[], datetime],
) -> LedgerBudgetGuard:
    """Enforces the budgets of the settings and the policies. `models` are (provider, model) pairs that may be called.

    Raises Misconfigured for a budget in money with unpriced models.
    """
    known, all_together = prices(settings), overall(settings)
    require_prices(known, models, all_together, policies)
    return LedgerBudgetGuard(ledger, known, all_together, clock)


def overall(settings: Settings) -> Budget:
    """The overall budget: the configured one, limited to memory's share of the chat system's budget."""
    stated = replace(stated_budget(settings.budget), background_reserve=settings.background_reserve)
    return memory_budget(stated, stated_budget(settings.chat_budget), settings.memory_share)


def stated_budget(limits: Limits) -> Budget:
    tokens = {name: int(limit) for name, limit in limits.items() if name.startswith("tokens")}
    return convert({**limits, **tokens}, Budget)


def prices(settings: Settings) -> Prices:
    """The shipped price table with the operator's prices over it. Raises Misconfigured."""
    built_in = decoded(PRICES_FILE.read_bytes())
    if settings.prices_file is None:
        return built_in
    named = f"{PREFIX}PRICES_FILE={settings.prices_file}"
    try:
        return built_in.overridden(decoded(settings.prices_file.read_bytes(), named))
    except OSError as exc:
        raise Misconfigured(f"{named}: {exc}; name a JSON table of prices, or leave it out") from exc


def require_prices(known: Prices, models: Iterable[tuple[str, str]], all_together: Budget, policies: Policies) -> None:
    """Raises Misconfigured if a budget is in money and one of the (provider, model) pairs has no price.

    Its cost would be unknown, so the budget would never be spent.
    """
    limited = [policy.name for policy in policies.listed if policy.budget.in_money]
    if not all_together.in_money and not limited:
        return
    for provider, model in models:
        if not known.knows(provider, model):
            whose = f"policy {limited[0]!r}" if limited else f"{PREFIX}BUDGET or {PREFIX}CHAT_BUDGET"
            raise Misconfigured(
                f"{whose} limits money, and the price of {model!r} is not known: add it to a table that "
                f"{PREFIX}PRICES_FILE names, or limit tokens instead"
            )
