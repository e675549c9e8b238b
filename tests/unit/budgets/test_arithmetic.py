"""The arithmetic of budgets: admission, retry times and split costs."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.budgets.arithmetic import AGAIN_S, charges, memory_budget, waits_until
from schemas.budgets.budgets import Amount, Budget, Level

NOW = datetime(2026, 11, 22, 14, 40, 30, tzinfo=UTC)
NEXT_HOUR = datetime(2026, 11, 22, 15, tzinfo=UTC)
NEXT_DAY = datetime(2026, 11, 23, tzinfo=UTC)
SOON = NOW + timedelta(seconds=AGAIN_S)
BUDGET = Budget(tokens_per_hour=1_000, tokens_per_day=5_000, usd_per_hour=1.0, usd_per_day=2.0)


def gone(hour: int = 0, day: int = 0, reserved: int = 0) -> Level:
    return Level(hour=Amount(hour), day=Amount(day), reserved=Amount(reserved))


def test_without_limits_everything_may_begin():
    assert waits_until(Budget(), gone(10**12, 10**12, 10**12), "background", NOW) is None
    assert not Budget().limits


def test_live_work_may_begin_until_the_last_token():
    assert waits_until(BUDGET, gone(999, 999), "live", NOW) is None
    assert waits_until(BUDGET, gone(1_000, 1_000), "live", NOW) == NEXT_HOUR


def test_background_work_waits_when_less_than_a_fifth_remains():
    assert waits_until(BUDGET, gone(800, 800), "background", NOW) is None
    assert waits_until(BUDGET, gone(801, 801), "background", NOW) == NEXT_HOUR
    assert waits_until(BUDGET, gone(801, 801), "live", NOW) is None


def test_the_background_reserve_is_configurable():
    half = Budget(tokens_per_hour=1_000, background_reserve=0.5)
    none = Budget(tokens_per_hour=1_000, background_reserve=0.0)
    assert waits_until(half, gone(501), "background", NOW) == NEXT_HOUR
    assert waits_until(none, gone(999), "background", NOW) is None
    assert waits_until(none, gone(1_000), "background", NOW) == NEXT_HOUR


def test_a_day_that_is_spent_waits_for_the_next_day_even_if_the_hour_is_spent_too():
    assert waits_until(BUDGET, gone(0, 5_000), "live", NOW) == NEXT_DAY
    assert waits_until(BUDGET, gone(1_000, 5_000), "live", NOW) == NEXT_DAY


def test_a_budget_exhausted_only_by_open_reservations_is_retried_soon():
    assert waits_until(BUDGET, gone(900, 900, reserved=100), "live", NOW) == SOON
    assert waits_until(BUDGET, gone(700, 700, reserved=101), "background", NOW) == SOON
    just_before = NEXT_HOUR - timedelta(seconds=1)
    assert waits_until(BUDGET, gone(900, 900, reserved=100), "live", just_before) == NEXT_HOUR


def test_the_limit_in_dollars_is_independent_of_the_limit_in_tokens():
    spent = Level(hour=Amount(1, 1_000_000), day=Amount(1, 1_000_000))
    assert waits_until(BUDGET, spent, "live", NOW) == NEXT_HOUR
    assert waits_until(Budget(usd_per_day=1.000001), spent, "live", NOW) is None
    assert waits_until(Budget(tokens_per_hour=2), spent, "live", NOW) is None


def test_a_limit_of_zero_lets_no_work_start():
    assert waits_until(Budget(tokens_per_hour=0), gone(), "live", NOW) == NEXT_HOUR
    assert waits_until(Budget(usd_per_day=0.0), gone(), "background", NOW) == NEXT_DAY


def test_budget_hours_and_days_are_in_utc():
    tehran = NOW.astimezone(timezone(timedelta(hours=3, minutes=30)))
    assert waits_until(BUDGET, gone(1_000, 0), "live", tehran) == NEXT_HOUR
    assert waits_until(BUDGET, gone(0, 5_000), "live", tehran) == NEXT_DAY


@given(tokens=st.integers(0, 10**9), micros=st.integers(0, 10**9), count=st.integers(1, 9))
def test_even_shares_sum_to_the_total_and_differ_by_one_at_most(tokens, micros, count):
    names = tuple(f"n{number}" for number in range(count))
    shares = charges(names, Amount(tokens, micros))
    assert list(shares) == list(names)
    assert sum(shares.values(), Amount()) == Amount(tokens, micros)
    assert max(share.tokens for share in shares.values()) - min(share.tokens for share in shares.values()) <= 1
    assert max(share.micros for share in shares.values()) - min(share.micros for share in shares.values()) <= 1


def test_a_call_without_namespaces_is_charged_to_no_namespace():
    assert charges((), Amount(100, 100)) == {}


def test_the_memory_budget_is_a_share_of_the_chat_budget():
    chat = Budget(tokens_per_hour=1_010, usd_per_day=100.0)
    assert memory_budget(Budget(), chat, 0.05) == Budget(tokens_per_hour=50, usd_per_day=5.0)


@pytest.mark.parametrize(("stated", "counts"), [(2.0, 2.0), (9.0, 5.0)])
def test_the_smaller_of_the_own_budget_and_the_share_of_the_chat_budget_applies(stated, counts):
    own = Budget(usd_per_day=stated, background_reserve=0.3)
    assert memory_budget(own, Budget(usd_per_day=100.0), 0.05) == Budget(usd_per_day=counts, background_reserve=0.3)
