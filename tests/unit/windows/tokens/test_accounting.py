"""Tokens are counted by role and compared with the model's context size."""

import pytest
from hypothesis import given

from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import MARKER_TOKENS, Calibration, Gap
from streams.windows.tokens.accounting import ANSWER_ROOM, Account, Budget, used_tokens
from tests.fakes.message_traits import budget, budgets, exchanges, turn, windows


def test_messages_and_tokens_are_counted_by_role():
    account = Account.of([turn(0, "system", 40), *exchanges(3, 1, 10), turn(7, "tool", 5)])
    assert account.tokens == {"system": 40, "user": 30, "assistant": 30, "tool": 5}
    assert account.messages == {"system": 1, "user": 3, "assistant": 3, "tool": 1}
    assert (account.total_messages, account.total_tokens) == (8, 105)


def test_used_tokens_include_markers_and_their_summaries():
    assert (
        used_tokens(exchanges(1, tokens=7), [Gap(0, 3, 4, 99), Gap(5, 5, 1, 9, "Oslo.", 3)])
        == 14 + 2 * MARKER_TOKENS + 3
    )


@pytest.mark.parametrize(
    ("used", "level", "target"),
    [
        (0, "ok", float("inf")),
        (799, "ok", float("inf")),
        (800, "warning", 700),
        (899, "warning", 700),
        (900, "aggressive", 600),
    ],
)
def test_levels_and_targets_are_fixed_shares_of_the_models_context_size(used, level, target):
    assert budget(1_000).level(used) == level
    assert budget(1_000).target(level) == pytest.approx(target)


def test_a_context_is_limited_to_four_fifths_of_the_models_size_unless_a_setting_overrides_it():
    assert budget(1_000).max_tokens == 800
    assert budget(1_000, max_tokens=850).max_tokens == 850
    assert Budget.of(WindowSettings(context_tokens=500), 1_000).size == 500


def test_a_context_limit_always_leaves_room_for_an_answer():
    assert budget(1_000, max_tokens=1_000).max_tokens == budget(1_000, max_tokens=5_000).max_tokens == 900
    assert budget(100_000, max_tokens=100_000).max_tokens == 100_000 - ANSWER_ROOM
    assert budget(1, max_tokens=1).max_tokens == 1


def test_a_lower_limit_lowers_the_pruning_levels_and_their_targets():
    lower = budget(1_000, max_tokens=400)
    assert [lower.level(used) for used in (399, 400, 450)] == ["ok", "warning", "aggressive"]
    assert (lower.target("warning"), lower.target("aggressive")) == (pytest.approx(350), pytest.approx(300))
    assert lower.share(400) == 0.4


def test_within_lowers_the_limit_of_a_budget_and_never_raises_it():
    assert budget(1_000).within(300).max_tokens == 300
    assert budget(1_000).within(5_000) == budget(1_000)


def test_levels_compare_billed_tokens_instead_of_counted_tokens():
    billed = Budget.of(WindowSettings(), 1_000, Calibration(1.25, 9))
    assert billed.billed(640) == 800
    assert [billed.level(used) for used in (639, 640)] == ["ok", "warning"]


@given(budgets())
def test_usage_below_the_warning_level_is_within_the_limit_and_targets_do_not_exceed_it(budget):
    assert budget.level(10**9) == "aggressive"
    assert budget.target("aggressive") <= budget.target("warning") <= budget.max_tokens <= budget.size
    for used in range(0, 4_000, 37):
        assert budget.level(used) != "ok" or budget.billed(used) <= budget.max_tokens
        assert budget.level(used) == "ok" or budget.billed(used) > budget.target("warning")


@given(windows())
def test_an_account_sums_to_the_tokens_used(turns):
    assert Account.of(turns).total_tokens == used_tokens(turns)


@given(budgets())
def test_surely_ok_tokens_is_a_close_lower_bound_of_the_warning_level(budget):
    calm = budget.surely_ok_tokens
    assert budget.level(max(0, calm)) == "ok" or calm < 0
    assert budget.level(calm + 4) != "ok"


@pytest.mark.parametrize("size", [1_001, 8_192, 200_000])
@pytest.mark.parametrize("max_tokens", [None, 700, 1_000])
def test_warning_at_tokens_and_aggressive_at_tokens_are_the_least_of_their_levels(size: int, max_tokens: int | None):
    for warning_at, aggressive_at in ((0.8, 0.9), (0.33, 0.5), (0.95, 0.97)):
        settings = WindowSettings(
            max_tokens=max_tokens,
            warning_at=warning_at,
            aggressive_at=aggressive_at,
            warning_target=0.2,
            aggressive_target=0.1,
        )
        budget = Budget.of(settings, size)
        warning, aggressive = budget.warning_at_tokens, budget.aggressive_at_tokens
        assert (budget.level(warning - 1), budget.level(aggressive - 1)) == (
            "ok",
            "warning" if warning < aggressive else "ok",
        )
        assert budget.level(warning) in ("warning", "aggressive") and budget.level(aggressive) == "aggressive"
