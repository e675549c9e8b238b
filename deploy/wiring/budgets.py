"""Budgets as the settings have them: prices, the budget of all namespaces together, and the energy that holds to both."""

from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec.structs import replace

from agents.budgets.arithmetic import memory_budget
from agents.budgets.energy import BudgetedEnergy
from agents.budgets.prices import PRICES_FILE, Prices, decoded
from deploy.settings import Settings
from deploy.settings.budgets import Limits
from deploy.settings.defaults import PREFIX
from schemas.budgets.budgets import Budget
from schemas.codec import convert
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies
from sinks.budgets.ledger import Ledger


def energy(
    settings: Settings,
    models: Iterable[tuple[str, str]],
    ledger: Ledger,
    policies: Policies,
    clock: Callable[[], datetime],
) -> BudgetedEnergy:
    """Holds to the budgets of the settings and the policies. `models` may be asked, each behind its provider's name.

    Raises Misconfigured for money without prices.
    """
    known, all_together = prices(settings), overall(settings)
    require_prices(known, models, all_together, policies)
    return BudgetedEnergy(ledger, known, all_together, clock)


def overall(settings: Settings) -> Budget:
    """What all namespaces together may spend: the budget stated, and at most memory's share of the chat system's."""
    stated = replace(stated_budget(settings.budget), background_reserve=settings.background_reserve)
    return memory_budget(stated, stated_budget(settings.chat_budget), settings.memory_share)


def stated_budget(limits: Limits) -> Budget:
    tokens = {name: int(limit) for name, limit in limits.items() if name.startswith("tokens")}
    return convert({**limits, **tokens}, Budget)


def prices(settings: Settings) -> Prices:
    """The table that ships with the operator's over it. Raises Misconfigured."""
    built_in = decoded(PRICES_FILE.read_bytes())
    if settings.prices_file is None:
        return built_in
    named = f"{PREFIX}PRICES_FILE={settings.prices_file}"
    try:
        return built_in.overridden(decoded(settings.prices_file.read_bytes(), named))
    except OSError as exc:
        raise Misconfigured(f"{named}: {exc}; name a JSON table of prices, or leave it out") from exc


def require_prices(known: Prices, models: Iterable[tuple[str, str]], all_together: Budget, policies: Policies) -> None:
    """Raises Misconfigured where money is limited and a model, with its provider before it, has no price.

    What it cost would not be known, and the budget would never end.
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
