"""Statistics of the context, of removed messages, and of pruning decisions."""

import pytest
from hypothesis import given

from schemas.conversations.window_settings import WindowSettings
from schemas.conversations.windows import MARKER_TOKENS, Calibration, Gap, LastPrune
from streams.windows.context import gaps as gaps_
from streams.windows.context.statistics import STRATEGIES, explanation, headline, statistics
from streams.windows.pruning.pruning import prune
from streams.windows.tokens.accounting import Budget, used_tokens
from tests.fakes.message_traits import NOW, budget, budgets, exchanges, turn, windows


def test_statistics_report_counts_tokens_level_and_last_prune_of_a_window():
    turns = [turn(0, "system", 20, timestamp=1.0), *exchanges(3, 9, 10, timestamp=50.0)]
    last = LastPrune(NOW, "usage", 8)
    found = statistics(turns, (Gap(1, 8, 8, 90),), Budget.of(WindowSettings(), 1_000, Calibration(2.0, 1)), last)
    assert (found.total_messages, found.messages_in_context, found.pruned_messages) == (15, 7, 8)
    assert found.total_tokens == 2 * (80 + MARKER_TOKENS)
    assert found.tokens_by_role == {"system": 40, "user": 60, "assistant": 60, "tool": 0}
    assert found.pruned_tokens == 180
    assert (found.token_limit, found.context_tokens, found.percent_used, found.level) == (800, 1_000, 18.4, "ok")
    assert (found.oldest_message_at, found.last_prune) == (50.0, last)
    assert found.strategy == "hybrid"


def test_statistics_of_an_empty_window_are_zero():
    found = statistics([], (), budget())
    assert (found.total_messages, found.percent_used, found.oldest_message_at, found.last_prune) == (0, 0.0, None, None)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_strategy_is_explained_with_its_settings(strategy):
    words = explanation(WindowSettings(strategy=strategy, min_recent=7))
    assert words.startswith(STRATEGIES[strategy])
    for said in (
        "the last 7 messages always stay",
        "more than 50",
        "80% of the model's context",
        "until 70%",
        "90%",
        "60%",
    ):
        assert said in words


def test_the_headline_states_counts_last_prune_and_usage_in_one_line():
    turns = exchanges(10)
    pruned = statistics(turns, (Gap(90, 99, 10, 90),), budget(), LastPrune(NOW - 900.0, "usage", 10))
    assert headline(pruned, NOW) == "20 messages (10 pruned 15 min ago), 21.2% of the context used"
    assert headline(statistics(turns, (), budget()), NOW) == "20 messages, 20.0% of the context used"


@given(windows(), budgets())
def test_all_messages_are_in_context_or_pruned(turns, limits):
    decision = prune(turns, (), limits, NOW)
    stayed = [each for each in turns if each.position in set(decision.retained)]
    found = statistics(stayed, decision.gaps, limits)
    assert found.total_messages == len(turns) == found.messages_in_context + found.pruned_messages
    assert found.pruned_messages == gaps_.count(decision.gaps) == len(decision.removed)
    assert found.total_tokens == limits.billed(used_tokens(stayed, decision.gaps))
