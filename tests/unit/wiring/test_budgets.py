"""Budgets and prices from settings."""

from pathlib import Path

import pytest

from agents.models.port import Usage
from deploy.runtime.dev import environment
from deploy.settings import load
from deploy.wiring.budgets import overall, prices, require_prices
from schemas.budgets.budgets import Budget
from schemas.errors import Misconfigured
from schemas.policies.policies import Policies, Policy

CLAUDE = ("claude", "claude-haiku-5-5")
NAMELESS = ("claude", "unheard-of")
MONEY = Policies((Policy(name="thrifty", budget=Budget(usd_per_day=1.0)),))


def test_without_settings_the_budget_has_no_limits():
    assert not overall(load()).limits


def test_a_configured_budget_is_used_unchanged():
    settings = load(budget={"tokens_per_hour": 1_000, "usd_per_day": 2.5}, background_reserve=0.4)
    assert overall(settings) == Budget(tokens_per_hour=1_000, usd_per_day=2.5, background_reserve=0.4)


def test_the_memory_budget_is_at_most_a_twentieth_of_the_chat_budget_by_default():
    chat = {"usd_per_day": 100, "tokens_per_day": 1_000_000}
    assert overall(load(chat_budget=chat)) == Budget(usd_per_day=5.0, tokens_per_day=50_000)
    assert overall(load(chat_budget=chat, memory_share=0.5)).usd_per_day == 50.0
    assert overall(load(chat_budget=chat, budget={"usd_per_day": 3})).usd_per_day == 3.0
    assert overall(load(chat_budget=chat, budget={"usd_per_day": 30})).usd_per_day == 5.0


def test_a_prices_file_overrides_the_shipped_prices(tmp_path: Path):
    table = tmp_path / "prices.json"
    table.write_text(
        '{"as_of": "2027-01-01", "source": "contract", "models": '
        '[{"model": "unheard-of", "input": 2, "output": 3, "cache_write": 2, "cache_read": 1}]}'
    )
    known = prices(load(prices_file=table))
    assert known.cost("claude", ["unheard-of"], Usage(input_tokens=5)) == 10
    assert known.knows(*CLAUDE)


def test_an_unreadable_prices_file_raises_misconfigured(tmp_path: Path):
    with pytest.raises(Misconfigured, match=r"MEMSTREAM_PRICES_FILE=.*nowhere"):
        prices(load(prices_file=tmp_path / "nowhere"))
    (tmp_path / "broken").write_text("{")
    with pytest.raises(Misconfigured, match=r"MEMSTREAM_PRICES_FILE=.*broken is not a table of prices"):
        prices(load(prices_file=tmp_path / "broken"))


def test_a_dollar_limit_requires_a_price_for_every_model():
    known = prices(load())
    with pytest.raises(Misconfigured, match=r"MEMSTREAM_BUDGET.*'unheard-of' is not known.*MEMSTREAM_PRICES_FILE"):
        require_prices(known, [CLAUDE, NAMELESS], Budget(usd_per_hour=1.0), Policies())
    with pytest.raises(Misconfigured, match="policy 'thrifty'"):
        require_prices(known, [NAMELESS], Budget(), MONEY)
    require_prices(known, [CLAUDE], Budget(usd_per_hour=1.0), MONEY)
    require_prices(known, [("ollama", "unheard-of")], Budget(usd_per_hour=1.0), MONEY)


def test_a_token_limit_requires_no_prices():
    require_prices(prices(load()), [NAMELESS], Budget(tokens_per_hour=1), Policies())


def test_a_child_process_reads_the_settings_of_its_parent_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    given = load(budget={"usd_per_day": 0.000001}, chat_budget={"tokens_per_hour": 10}, model_context_tokens={"m": 8})
    for name, value in environment(given).items():
        monkeypatch.setenv(name, value)
    assert load() == given
