"""A context holds the system prompt, kept history and current message within its limit."""

import pytest
from hypothesis import given

from schemas.conversations.windows import Gap
from schemas.errors import Rejected
from streams.windows.context.building import build
from streams.windows.pruning.pruning import prune
from streams.windows.traits import MessageTraits
from tests.fakes.message_traits import NOW, budget, budgets, exchanges, turn, windows


def shown(entries) -> list[int | str]:
    return [entry.position if isinstance(entry, MessageTraits) else entry.marker for entry in entries]


def test_context_of_a_small_window_holds_every_message_with_the_current_one_last():
    context = build([turn(0, "system"), *exchanges(2, 1)], (), budget(), NOW, turn(9, tokens=5))
    assert shown(context.entries) == [0, 1, 2, 3, 4, 9]
    assert (context.tokens, context.billed_tokens, context.limit_tokens) == (55, 55, 800)
    assert context.decision.removed == ()


def test_markers_stand_where_messages_were_removed():
    context = build(
        [turn(0, "system"), *exchanges(1, 8)], (Gap(3, 7, 5, 50), Gap(11, 12, 2, 9)), budget(), NOW, turn(20)
    )
    assert shown(context.entries) == [0, "... [5 messages removed] ...", 8, 9, "... [2 messages removed] ...", 20]


def test_build_prunes_messages_that_exceed_the_token_limit():
    context = build([turn(0, "system"), *exchanges(40, 1)], (), budget(500, strategy="rolling_window"), NOW, turn(99))
    removed = len(context.decision.removed)
    assert shown(context.entries)[:3] == [0, f"... [{removed} messages removed] ...", removed + 1]
    assert context.billed_tokens <= 300


def test_build_rejects_a_limit_too_small_for_protected_messages_and_names_their_sizes():
    with pytest.raises(Rejected) as refused:
        build([turn(0, "system", 100), *exchanges(20, 1, 50)], (), budget(500), NOW, turn(99, tokens=70))
    assert refused.value.reason == "context_too_small"
    for said in ("system prompt 100", "10 protected messages 500", "current message 70", "hold 400", "model's 500"):
        assert said in refused.value.detail
    assert "Raise max_tokens, lower min_recent (now 10)" in refused.value.detail


def test_build_drops_summaries_before_it_rejects_a_context_as_too_large():
    turns = [turn(at * 10) for at in range(10)]
    gaps = [Gap(at * 10 + 1, at * 10 + 5, 5, 50, "They talked of many things.", 100) for at in range(9)]
    context = build(turns, gaps, budget(500), NOW, turn(99))
    assert context.billed_tokens <= 400
    assert "... [5 messages removed] ..." in shown(context.entries)


def test_context_of_an_empty_window_holds_only_the_current_message():
    assert shown(build([], (), budget(), NOW, turn(0)).entries) == [0]
    assert build([], (), budget(), NOW).entries == ()


@given(windows(), budgets())
def test_any_context_stays_within_its_limit_and_keeps_protected_messages_in_order(turns, limits):
    try:
        context = build(turns, (), limits, NOW)
    except Rejected as refused:
        assert refused.reason == "context_too_small"
        decision = prune(turns, (), limits, NOW)
        never = [decision.reasons[position] for position in decision.retained]
        assert set(never) <= {"system_prompt", "recent", "with_recent"}, "something else could have left"
        return
    assert context.billed_tokens <= limits.max_tokens
    assert context.tokens == context.decision.tokens
    messages = [entry for entry in context.entries if isinstance(entry, MessageTraits)]
    positions = [message.position for message in messages]
    assert positions == list(context.decision.retained) == sorted(positions)
    assert [each for each in turns if each.role == "system"] == [each for each in messages if each.role == "system"]
    assert turns[-1:] == messages[-1:]
    firsts = [entry.position if isinstance(entry, MessageTraits) else entry.first for entry in context.entries]
    assert firsts == sorted(firsts)
