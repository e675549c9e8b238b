"""Costs of model calls, by a dated price table that an operator may override."""

from datetime import date
from decimal import Decimal
from fnmatch import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.budgets.prices import PRICES_FILE, Price, Prices, decoded
from agents.models.port import Usage
from deploy.settings import Settings
from schemas.errors import Misconfigured

OWN = Price(model="m", input=Decimal(3), output=Decimal(15), cache_write=Decimal("3.75"), cache_read=Decimal("0.3"))
TABLE = Prices(as_of=date(2026, 1, 1), source="made up", models=(OWN,), free_providers=("ollama",))
counts = st.integers(0, 10**7)
usages = st.builds(
    Usage, input_tokens=counts, output_tokens=counts, cache_read_tokens=counts, cache_write_tokens=counts
)


def built_in() -> Prices:
    return decoded(PRICES_FILE.read_bytes())


def test_each_token_type_has_its_own_price():
    million = 1_000_000
    assert TABLE.cost("claude", ["m"], Usage(input_tokens=million)) == 3 * million
    assert TABLE.cost("claude", ["m"], Usage(output_tokens=million)) == 15 * million
    assert TABLE.cost("claude", ["m"], Usage(cache_write_tokens=million)) == 3_750_000
    assert TABLE.cost("claude", ["m"], Usage(cache_read_tokens=million)) == 300_000
    assert (
        TABLE.cost("claude", ["m"], Usage(input_tokens=1, output_tokens=1, cache_read_tokens=1, cache_write_tokens=1))
        == 23
    )  # 22.05, rounded up


def test_a_batch_costs_half():
    assert TABLE.cost("claude", ["m"], Usage(input_tokens=1_000, batched=True)) == 1_500


@given(usage=usages)
def test_a_cost_is_the_exact_sum_rounded_up_to_a_millionth_of_a_dollar(usage):
    exact = (
        Decimal(usage.input_tokens) * 3
        + Decimal(usage.output_tokens) * 15
        + Decimal(usage.cache_write_tokens) * Decimal("3.75")
        + Decimal(usage.cache_read_tokens) * Decimal("0.3")
    ) / (2 if usage.batched else 1)
    cost = TABLE.cost("claude", ["m"], usage)
    assert isinstance(cost, int)
    assert 0 <= cost - exact < 1


def test_an_unknown_price_gives_a_cost_of_none_rather_than_zero():
    assert TABLE.cost("claude", ["unheard-of"], Usage(input_tokens=1)) is None
    assert not TABLE.knows("claude", "unheard-of")


def test_a_free_provider_costs_zero_for_any_model_without_a_price():
    assert TABLE.cost("ollama", ["unheard-of"], Usage(input_tokens=10**9)) == 0
    assert TABLE.cost("ollama", ["m"], Usage(input_tokens=1)) == 3  # somebody gave it a price


def test_a_dated_model_snapshot_has_the_price_of_its_model_and_a_newer_version_has_none():
    prices = built_in()
    usage = Usage(input_tokens=1_000_000)
    assert prices.cost("claude", ["claude-haiku-4-5-20251001"], usage) == 1_000_000
    assert prices.cost("claude", ["claude-opus-5-7"], usage) is None
    assert prices.cost("claude", ["claude-opus-5-5"], usage) == 4_000_000
    assert prices.cost("claude", ["claude-opus-5"], usage) == 5_000_000


def test_an_unknown_model_name_in_a_response_falls_back_to_the_price_of_the_requested_model():
    assert TABLE.cost("claude", ["gateway/m", "m"], Usage(input_tokens=1_000)) == 3_000


def test_a_prompt_above_the_length_threshold_has_the_higher_prices_counting_cached_tokens():
    prices = built_in()
    short = Usage(input_tokens=40_000, cache_read_tokens=60_000, output_tokens=1_000)
    long = Usage(input_tokens=40_001, cache_read_tokens=60_000, output_tokens=1_000)
    assert prices.cost("claude", ["claude-haiku-5-5"], short) == 4_000 + 600 + 500
    assert prices.cost("claude", ["claude-haiku-5-5"], long) == 20_001 + 3_000 + 2_500  # 20000.5, rounded up


def test_a_price_override_replaces_all_bands_of_its_model_and_no_other_model():
    theirs = Prices(
        as_of=date(2027, 1, 1),
        source="our contract",
        models=(
            Price(
                model="claude-haiku-5-5",
                input=Decimal(7),
                output=Decimal(0),
                cache_write=Decimal(0),
                cache_read=Decimal(0),
            ),
        ),
    )
    prices = built_in().overridden(theirs)
    assert prices.cost("claude", ["claude-haiku-5-5"], Usage(input_tokens=200_000)) == 1_400_000
    assert prices.cost("claude", ["claude-haiku-4-5"], Usage(input_tokens=1)) == 1
    assert (prices.as_of, prices.source) == (date(2027, 1, 1), "our contract")
    assert prices.cost("offline", ["rules"], Usage(input_tokens=1)) == 0


def test_the_shipped_price_table_has_a_date_a_source_and_consistent_ratios():
    prices = built_in()
    assert prices.as_of >= date(2026, 10, 1)
    assert "Anthropic" in prices.source
    assert prices.batch_factor == Decimal("0.5")
    assert all(
        price.input < price.cache_write for price in prices.models
    )  # five minutes in a cache cost a quarter more
    assert all(price.cache_write == price.input * Decimal("1.25") for price in prices.models)
    assert all(price.output == price.input * 5 for price in prices.models)


def test_the_default_models_have_prices():
    named = [
        field.default
        for name, field in Settings.model_fields.items()
        if fnmatch(name, "*claude*model*") and field.default
    ]
    assert named
    assert all(built_in().knows("claude", model) for model in named)


@pytest.mark.parametrize(
    "table",
    [
        b"{}",
        b"[]",
        b'{"as_of":"2026-01-01","source":"s","models":[{"model":"m","input":-1,"output":1,"cache_write":1,"cache_read":1}]}',
        b'{"as_of":"2026-01-01","source":"s","modles":[]}',
        b'{"as_of":"soon","source":"s"}',
    ],
)
def test_an_invalid_price_table_raises_misconfigured(table):
    with pytest.raises(Misconfigured, match=r"prices\.json is not a table of prices"):
        decoded(table)
