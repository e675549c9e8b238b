"""Pruning keeps what must stay, removes in the stated order, splits nothing, and says why."""

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
def test_below_the_warning_level_nothing_leaves(strategy):
    decision = decide(conversation(20), strategy=strategy)
    assert (decision.removed, decision.gaps, decision.level) == ((), (), "ok")
    assert len(decision.retained) == 41


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("size", "level", "target"), [(760, "warning", 532), (690, "aggressive", 414), (500, "aggressive", 300)]
)
def test_above_it_a_window_comes_down_to_the_target_of_its_level(strategy, size, level, target):
    decision = decide(conversation(32), budget(size, strategy=strategy, max_messages=100))
    assert (decision.level, decision.reached) == (level, True)
    assert target - 20 <= decision.tokens <= target


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_plain_messages_leave_from_the_middle_oldest_first_and_leave_a_marker(strategy):
    decision = decide(conversation(30), budget(700, strategy=strategy, max_messages=100))
    opening = (1, 2) if strategy == "hybrid" else ()
    first = 3 if strategy == "hybrid" else 1
    assert decision.removed == tuple(range(first, first + len(decision.removed)))
    assert decision.retained[: 1 + len(opening)] == (0, *opening)
    assert [gap.marker for gap in decision.gaps] == [f"... [{len(decision.removed)} messages removed] ..."]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_window_never_has_more_messages_than_it_may(strategy):
    assert decide(conversation(25), budget(100_000, strategy=strategy)).removed == ()
    decision = decide(conversation(26), budget(100_000, strategy=strategy))
    assert 33 <= len(decision.retained) - 1 <= 35, "the warning level's target of 50, in whole exchanges"
    assert decision.level == "ok" and decision.reached


def test_the_system_prompt_and_the_last_ones_stay_even_if_they_are_too_large():
    decision = decide(conversation(30), budget(50))
    assert decision.retained == (0, *range(51, 61))
    assert not decision.reached
    assert {decision.reasons[position] for position in decision.retained} == {"system_prompt", "recent"}


def test_what_belongs_to_a_recent_message_stays_with_it():
    decision = decide(conversation(30), budget(50, min_recent=3))
    assert decision.retained == (0, 57, 58, 59, 60)
    assert decision.reasons[57] == "with_recent"


def test_completed_tasks_leave_before_any_part_of_the_current_one():
    turns = [*exchanges(10, 0, segment=0), *exchanges(10, 20, segment=1), *exchanges(15, 40, segment=2)]
    for strategy in STRATEGIES:
        decision = decide(turns, budget(800, strategy=strategy, max_messages=100))
        assert decision.removed and max(decision.removed) < 40


def test_with_hybrid_completed_tasks_leave_whole():
    turns = [*exchanges(10, 0, segment=0), *exchanges(10, 20, segment=1), *exchanges(15, 40, segment=2)]
    assert decide(turns, budget(840, max_messages=100)).removed == tuple(range(20))
    rolling = decide(turns, budget(840, strategy="rolling_window", max_messages=100))
    assert len(rolling.removed) < 20


def test_with_hybrid_a_long_task_leaves_in_parts_when_much_room_would_be_left():
    turns = [*exchanges(25, 0, segment=0), *exchanges(10, 50, segment=1)]
    decision = decide(turns, budget(800, max_messages=100))
    assert decision.removed == tuple(range(len(decision.removed)))
    assert 520 <= decision.tokens <= 560, "the task alone has more than the 140 tokens that are to leave"
    assert decision.reasons[len(decision.removed)] == "fits"


def test_a_failed_call_and_its_retry_are_kept_longest_and_leave_together():
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


def test_with_importance_the_least_important_leave_first():
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


def test_an_error_and_its_correction_are_kept_longest_and_the_error_leaves_before_its_correction():
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


def test_what_frames_the_current_task_outlives_its_steps():
    steps = [
        turn(3 + n, "assistant" if n % 2 == 0 else "tool", 30, calls=(f"c{n}",) if n % 2 == 0 else ())
        for n in range(20)
    ]
    steps = [each if each.calls else turn(each.position, "tool", 30, answers=f"c{each.position - 4}") for each in steps]
    turns = [turn(0, "system"), turn(1, traits=DIRECTIVE), turn(2, "assistant"), *steps]
    decision = decide(turns, budget(600, max_messages=100))
    assert decision.reasons[1] == "framing"
    assert decision.removed and 1 not in decision.removed


def test_at_a_boundary_finished_tasks_leave_but_for_what_holds_on():
    turns = [*exchanges(10, 0, segment=0), *exchanges(8, 20, segment=1)]
    turns[4] = turn(4, traits=DIRECTIVE | LASTING)
    turns[6] = turn(6, traits=DIRECTIVE)
    turns[19] = turn(19, "assistant", traits=TASK_COMPLETE)
    assert decide(turns).removed == ()
    decision = decide(turns, cause="boundary")
    assert set(decision.removed) == set(range(20)) - {4, 5}
    assert decision.reasons[4] == "directive" and decision.reasons[0] == "completed_task"
    assert decide(turns, cause="boundary", strategy="rolling_window").removed == tuple(range(20))


def test_at_a_boundary_a_task_that_only_paused_stays_and_at_a_sessions_start_it_leaves():
    turns = [*exchanges(10, 0, segment=0), *exchanges(8, 20, segment=1)]
    assert decide(turns, cause="boundary").removed == ()
    assert decide(turns, cause="session_start").removed == tuple(range(20))


def test_by_hand_a_window_comes_down_to_the_lower_target():
    assert decide(conversation(30), budget(900, max_messages=100)).removed == ()
    by_hand = decide(conversation(30), budget(900, max_messages=100), cause="manual")
    assert 520 <= by_hand.tokens <= 540


def test_clearing_leaves_the_system_prompt_alone():
    turns = [*exchanges(2, 0), turn(4, "system"), *exchanges(2, 5)]
    decision = clear(turns, (), budget())
    assert (decision.retained, decision.cause) == ((4,), "cleared")
    assert decision.gaps == (Gap(0, 3, 4, 40), Gap(5, 8, 4, 40))
    assert clear([turns[4]], decision.gaps, budget()).gaps == decision.gaps


def test_gaps_of_earlier_prunings_grow():
    turns = [turn(0, "system"), *exchanges(40, 11)]
    decision = decide(turns, budget(700, strategy="rolling_window", max_messages=100), gaps=(Gap(1, 10, 10, 100),))
    (gap,) = decision.gaps
    assert (gap.first, gap.count) == (1, 10 + len(decision.removed))


def test_a_window_of_nothing_is_left_alone():
    assert decide([]).retained == () == decide([]).removed
    assert clear([], (), budget()).retained == ()


@pytest.mark.parametrize("strategy", ["rolling_window", "importance", "hybrid"])
def test_an_error_and_its_correction_stay_where_twenty_conversations_share_a_partition(strategy):
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
def test_nothing_is_lost_and_order_is_kept(turns, limits, cause):
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
def test_what_is_protected_stays(turns, limits, cause):
    decision = prune(turns, (), limits, NOW, cause)
    said = [each.position for each in turns if each.role != "system"]
    protected = {each.position for each in turns if each.role == "system"} | set(said[-limits.settings.min_recent :])
    assert protected <= set(decision.retained)


@given(windows(), budgets(), CAUSES)
def test_what_belongs_together_is_not_split(turns, limits, cause):
    kept = set(prune(turns, (), limits, NOW, cause).retained)
    for unit in group_units(turns, [0.5] * len(turns), 1):
        assert len({turns[place].position in kept for place in unit.places}) == 1


@given(windows(), budgets(), CAUSES)
def test_the_current_task_is_whole_as_long_as_others_have_anything_to_give(turns, limits, cause):
    decision = prune(turns, (), limits, NOW, cause)
    current = turns[-1].segment if turns else 0
    removed = set(decision.removed)
    units = group_units(turns, [0.5] * len(turns), limits.settings.min_recent)
    ordinary = [unit for unit in units if not (unit.protected or unit.corrects or unit.important)]
    fragmented = any(turns[unit.places[0]].position in removed for unit in ordinary if unit.segment == current)
    if fragmented:
        assert all(turns[unit.places[0]].position in removed for unit in ordinary if unit.segment != current)


@given(windows(), budgets(), CAUSES)
def test_pruning_twice_is_pruning_once(turns, limits, cause):
    once = prune(turns, (), limits, NOW, cause)
    stayed = [each for each in turns if each.position in set(once.retained)]
    twice = prune(stayed, once.gaps, limits, NOW, cause)
    assert (twice.retained, twice.removed, twice.gaps, twice.tokens) == (once.retained, (), once.gaps, once.tokens)
    assert once.tokens == used_tokens(stayed, once.gaps)


@given(windows(), budgets())
def test_a_window_within_its_targets_is_within_its_limit(turns, limits):
    decision = prune(turns, (), limits, NOW)
    if decision.reached:
        assert limits.billed(decision.tokens) <= limits.max_tokens
        assert sum(each.role != "system" for each in turns) - len(decision.removed) <= limits.settings.max_messages
    else:
        assert not any(
            decision.reasons[each] not in ("system_prompt", "recent", "with_recent") for each in decision.retained
        )


@given(windows(), budgets())
def test_nothing_is_removed_unless_it_was_due(turns, limits):
    said = sum(each.role != "system" for each in turns)
    if not due(said, used_tokens(turns), limits):
        assert prune(turns, (), limits, NOW).removed == ()


@given(windows(), budgets(), st.integers(0, 40))
def test_pruning_as_messages_arrive_loses_none(turns, limits, first):
    kept, gaps = turns[:first], ()
    for arrived in turns[first:]:
        kept.append(arrived)
        decision = prune(kept, gaps, limits, NOW)
        kept, gaps = [each for each in kept if each.position in set(decision.retained)], decision.gaps
        assert all(gaps_.holds(gaps, position) for position in decision.removed)
    assert len(kept) + gaps_.count(gaps) == len(turns)
