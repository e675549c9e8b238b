"""Pruning keeps protected messages, removes others in the documented order, splits no unit, and reports reasons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.conversations.windows import Gap
from streams.windows.context import gaps as gaps_
from streams.windows.detectors.traits import CORRECTION, DIRECTIVE, ERROR, LASTING, TASK_COMPLETE, TOOL_RESULT
from streams.windows.pruning.pruning import clear, due, prune
from streams.windows.pruning.reasons import SENTENCES, STAYED
from streams.windows.pruning.units import group_units
from streams.windows.tokens.accounting import used_tokens
from tests.fakes.message_traits import NOW, budget, budgets, exchanges, turn, windows

CAUSES = st.sampled_from(["usage", "boundary", "session_start", "manual"])
STRATEGIES = ["rolling_window", "importance", "hybrid"]


def decide(turns, of=None, gaps=(), cause="usage", **settings):
    return prune(turns, gaps, of or budget(**settings), NOW, cause)


def conversation(exchanged: int = 30, tokens: int = 10, **fields):
    """A system prompt at position 0, then exchanges."""
    return [turn(0, "system", tokens), *exchanges(exchanged, 1, tokens, **fields)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_prune_removes_nothing_below_the_warning_level(strategy):
    decision = decide(conversation(20), strategy=strategy)
    assert (decision.removed, decision.gaps, decision.level) == ((), (), "ok")
    assert len(decision.retained) == 41


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("size", "level", "target"), [(760, "warning", 532), (690, "aggressive", 414), (500, "aggressive", 300)]
)
def test_prune_reduces_a_window_above_the_warning_level_to_the_target_of_its_level(strategy, size, level, target):
    decision = decide(conversation(32), budget(size, strategy=strategy, max_messages=100))
    assert (decision.level, decision.reached) == (level, True)
    assert target - 20 <= decision.tokens <= target


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_plain_messages_are_removed_oldest_first_behind_the_system_prompt_and_replaced_by_a_marker(strategy):
    decision = decide(conversation(30), budget(700, strategy=strategy, max_messages=100))
    opening = (1, 2) if strategy == "hybrid" else ()
    first = 3 if strategy == "hybrid" else 1
    assert decision.removed == tuple(range(first, first + len(decision.removed)))
    assert decision.retained[: 1 + len(opening)] == (0, *opening)
    assert [gap.marker for gap in decision.gaps] == [f"... [{len(decision.removed)} messages removed] ..."]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_prune_reduces_a_window_that_exceeds_its_message_limit(strategy):
    assert decide(conversation(25), budget(100_000, strategy=strategy)).removed == ()
    decision = decide(conversation(26), budget(100_000, strategy=strategy))
    assert 33 <= len(decision.retained) - 1 <= 35, "the warning level's target of 50, in whole exchanges"
    assert decision.level == "ok" and decision.reached


def test_the_system_prompt_and_the_latest_messages_stay_even_if_they_exceed_the_limit():
    decision = decide(conversation(30), budget(50))
    assert decision.retained == (0, *range(51, 61))
    assert not decision.reached
    assert {decision.reasons[position] for position in decision.retained} == {"system_prompt", "recent"}


def test_a_message_paired_with_a_protected_recent_message_stays_too():
    decision = decide(conversation(30), budget(50, min_recent=3))
    assert decision.retained == (0, 57, 58, 59, 60)
    assert decision.reasons[57] == "with_recent"


def test_earlier_tasks_are_removed_before_any_part_of_the_current_task():
    turns = [*exchanges(10, 0, segment=0), *exchanges(10, 20, segment=1), *exchanges(15, 40, segment=2)]
    for strategy in STRATEGIES:
        decision = decide(turns, budget(800, strategy=strategy, max_messages=100))
        assert decision.removed and max(decision.removed) < 40


def test_hybrid_removes_earlier_tasks_as_a_whole():
    turns = [*exchanges(10, 0, segment=0), *exchanges(10, 20, segment=1), *exchanges(15, 40, segment=2)]
    assert decide(turns, budget(840, max_messages=100)).removed == tuple(range(20))
    rolling = decide(turns, budget(840, strategy="rolling_window", max_messages=100))
    assert len(rolling.removed) < 20


def test_hybrid_removes_only_part_of_a_long_task_if_all_of_it_would_free_too_much():
    turns = [*exchanges(25, 0, segment=0), *exchanges(10, 50, segment=1)]
    decision = decide(turns, budget(800, max_messages=100))
    assert decision.removed == tuple(range(len(decision.removed)))
    assert 520 <= decision.tokens <= 560, "the task alone has more than the 140 tokens that are to leave"
    assert decision.reasons[len(decision.removed)] == "fits"


def test_a_failed_call_and_its_retry_are_removed_last_and_together():
    turns = conversation(30)
    turns[5:9] = [
        turn(5, "assistant", calls=("a",)),
        turn(6, "tool", traits=ERROR, answers="a"),
        turn(7, "assistant", calls=("b",)),
        turn(8, "tool", answers="b"),
    ]
    for strategy in STRATEGIES:
        decision = decide(turns, budget(340, strategy=strategy, max_messages=100))
        assert {5, 6, 7, 8} <= set(decision.retained)
        assert {decision.reasons[place] for place in (5, 6, 7, 8)} == {"error_pair"}
        tight = decide(turns, budget(200, strategy=strategy, max_messages=100))
        assert {5, 6, 7, 8} <= set(tight.removed)


def test_importance_removes_the_least_important_messages_first():
    turns = conversation(30)
    turns[11] = turn(11, "user", traits=DIRECTIVE)
    turns[21] = turn(21, "user", important=True)
    decision = decide(turns, budget(500, strategy="importance", max_messages=100))
    assert {11, 12, 21, 22} <= set(decision.retained)
    assert {10, 13, 20, 23} <= set(decision.removed)


def test_hybrid_weighs_importance_and_age():
    turns = conversation(40)
    turns[7] = turn(7, traits=ERROR)
    turns[47] = turn(47, traits=ERROR)
    decision = decide(turns, budget(700, max_messages=100, min_recent=2))
    assert {7, 8, 47, 48} <= set(decision.retained) and 40 in decision.removed
    fewer = decide(turns, budget(120, max_messages=100, min_recent=2))
    assert 7 in fewer.removed


def test_an_error_and_its_correction_are_removed_last_and_the_error_before_the_correction():
    turns = conversation(30)
    turns[6] = turn(6, "assistant", traits=ERROR)
    turns[9] = turn(9, traits=CORRECTION)
    turns[13] = turn(13, important=True)
    for strategy in STRATEGIES:
        decision = decide(turns, budget(340, strategy=strategy, max_messages=100))
        assert {5, 6, 9, 10} <= set(decision.retained)
        assert decision.reasons[6] == decision.reasons[9] == "error_pair"
        assert decision.reasons[13] == "last_resort"
        tight = decide(turns, budget(300, strategy=strategy, max_messages=100))
        assert 6 in tight.removed and {9, 10} <= set(tight.retained)


def test_the_message_that_frames_the_current_task_outlives_its_steps():
    steps = [
        turn(3 + n, "assistant" if n % 2 == 0 else "tool", 30, calls=(f"c{n}",) if n % 2 == 0 else ())
        for n in range(20)
    ]
    steps = [each if each.calls else turn(each.position, "tool", 30, answers=f"c{each.position - 4}") for each in steps]
    turns = [turn(0, "system"), turn(1, traits=DIRECTIVE), turn(2, "assistant"), *steps]
    decision = decide(turns, budget(600, max_messages=100))
    assert decision.reasons[1] == "framing"
    assert decision.removed and 1 not in decision.removed


def test_a_task_boundary_removes_finished_tasks_except_lasting_directives():
    turns = [*exchanges(10, 0, segment=0), *exchanges(8, 20, segment=1)]
    turns[4] = turn(4, traits=DIRECTIVE | LASTING)
    turns[6] = turn(6, traits=DIRECTIVE)
    turns[19] = turn(19, "assistant", traits=TASK_COMPLETE)
    assert decide(turns).removed == ()
    decision = decide(turns, cause="boundary")
    assert set(decision.removed) == set(range(20)) - {4, 5}
    assert decision.reasons[4] == "directive" and decision.reasons[0] == "completed_task"
    assert decide(turns, cause="boundary", strategy="rolling_window").removed == tuple(range(20))


def test_a_paused_task_stays_at_a_task_boundary_and_is_removed_at_a_session_start():
    turns = [*exchanges(10, 0, segment=0), *exchanges(8, 20, segment=1)]
    assert decide(turns, cause="boundary").removed == ()
    assert decide(turns, cause="session_start").removed == tuple(range(20))


def test_a_manual_prune_reduces_the_window_to_the_lower_target():
    assert decide(conversation(30), budget(900, max_messages=100)).removed == ()
    by_hand = decide(conversation(30), budget(900, max_messages=100), cause="manual")
    assert 520 <= by_hand.tokens <= 540


def test_clear_removes_everything_except_the_system_prompt():
    turns = [*exchanges(2, 0), turn(4, "system"), *exchanges(2, 5)]
    decision = clear(turns, (), budget())
    assert (decision.retained, decision.cause) == ((4,), "cleared")
    assert decision.gaps == (Gap(0, 3, 4, 40), Gap(5, 8, 4, 40))
    assert clear([turns[4]], decision.gaps, budget()).gaps == decision.gaps


def test_a_gap_of_an_earlier_pruning_grows_with_adjacent_removals():
    turns = [turn(0, "system"), *exchanges(40, 11)]
    decision = decide(turns, budget(700, strategy="rolling_window", max_messages=100), gaps=(Gap(1, 10, 10, 100),))
    (gap,) = decision.gaps
    assert (gap.first, gap.count) == (1, 10 + len(decision.removed))


def test_prune_and_clear_of_an_empty_window_remove_nothing():
    assert decide([]).retained == () == decide([]).removed
    assert clear([], (), budget()).retained == ()


@pytest.mark.parametrize("strategy", ["rolling_window", "importance", "hybrid"])
def test_a_failed_call_and_its_retry_stay_if_twenty_conversations_share_a_partition(strategy):
    said = [
        turn(0, "assistant", calls=("a",)),
        turn(20, "tool", traits=ERROR | TOOL_RESULT, answers="a"),
        turn(40, "assistant", calls=("b",)),
        turn(60, "tool", traits=TOOL_RESULT, answers="b"),
        *(turn(80 + 20 * place, ("user", "assistant")[place % 2]) for place in range(60)),
    ]
    decision = prune(said, (), budget(20 * len(said), strategy=strategy, max_messages=30), NOW)
    assert {0, 20, 40, 60} <= set(decision.retained)


def test_every_reason_has_a_sentence():
    assert set(SENTENCES) > STAYED


@given(windows(), budgets(), CAUSES)
def test_every_message_is_either_retained_or_removed_in_its_original_order(turns, limits, cause):
    decision = prune(turns, (), limits, NOW, cause)
    assert (
        sorted([*decision.retained, *decision.removed]) == [each.position for each in turns] == list(decision.reasons)
    )
    assert list(decision.retained) == sorted(decision.retained) and list(decision.removed) == sorted(decision.removed)
    assert len(decision.retained) + gaps_.count(decision.gaps) == len(turns)
    assert all(
        (decision.reasons[position] in STAYED) == (position in decision.retained) for position in decision.reasons
    )


@given(windows(), budgets(), CAUSES)
def test_protected_messages_are_never_removed(turns, limits, cause):
    decision = prune(turns, (), limits, NOW, cause)
    said = [each.position for each in turns if each.role != "system"]
    protected = {each.position for each in turns if each.role == "system"} | set(said[-limits.settings.min_recent :])
    assert protected <= set(decision.retained)


@given(windows(), budgets(), CAUSES)
def test_prune_never_splits_a_unit_of_messages(turns, limits, cause):
    kept = set(prune(turns, (), limits, NOW, cause).retained)
    for unit in group_units(turns, [0.5] * len(turns), 1):
        assert len({turns[place].position in kept for place in unit.places}) == 1


@given(windows(), budgets(), CAUSES)
def test_the_current_task_stays_whole_while_other_tasks_have_removable_messages(turns, limits, cause):
    decision = prune(turns, (), limits, NOW, cause)
    current = turns[-1].segment if turns else 0
    removed = set(decision.removed)
    units = group_units(turns, [0.5] * len(turns), limits.settings.min_recent)
    ordinary = [unit for unit in units if not (unit.protected or unit.corrects or unit.important)]
    fragmented = any(turns[unit.places[0]].position in removed for unit in ordinary if unit.segment == current)
    if fragmented:
        assert all(turns[unit.places[0]].position in removed for unit in ordinary if unit.segment != current)


@given(windows(), budgets(), CAUSES)
def test_prune_is_idempotent(turns, limits, cause):
    once = prune(turns, (), limits, NOW, cause)
    stayed = [each for each in turns if each.position in set(once.retained)]
    twice = prune(stayed, once.gaps, limits, NOW, cause)
    assert (twice.retained, twice.removed, twice.gaps, twice.tokens) == (once.retained, (), once.gaps, once.tokens)
    assert once.tokens == used_tokens(stayed, once.gaps)


@given(windows(), budgets())
def test_a_window_that_reached_its_target_is_within_its_limits(turns, limits):
    decision = prune(turns, (), limits, NOW)
    if decision.reached:
        assert limits.billed(decision.tokens) <= limits.max_tokens
        assert sum(each.role != "system" for each in turns) - len(decision.removed) <= limits.settings.max_messages
    else:
        assert not any(
            decision.reasons[each] not in ("system_prompt", "recent", "with_recent") for each in decision.retained
        )


@given(windows(), budgets())
def test_prune_removes_nothing_unless_it_is_due(turns, limits):
    said = sum(each.role != "system" for each in turns)
    if not due(said, used_tokens(turns), limits):
        assert prune(turns, (), limits, NOW).removed == ()


@given(windows(), budgets(), st.integers(0, 40))
def test_incremental_pruning_accounts_for_every_message_as_retained_or_in_a_gap(turns, limits, first):
    kept, gaps = turns[:first], ()
    for arrived in turns[first:]:
        kept.append(arrived)
        decision = prune(kept, gaps, limits, NOW)
        kept, gaps = [each for each in kept if each.position in set(decision.retained)], decision.gaps
        assert all(gaps_.holds(gaps, position) for position in decision.removed)
    assert len(kept) + gaps_.count(gaps) == len(turns)
