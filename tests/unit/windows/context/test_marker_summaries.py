"""Summaries of removed messages are requested, shown in markers and bounded, in any order of arrival."""

import pytest
from msgspec.structs import replace

from schemas.conversations.windows import LONGEST_SUMMARY
from streams.windows.context.history import SUMMARIES_IN_ONE_MARKER
from streams.windows.effects import ContextPruned
from tests.fakes.talk import Talk, summaries


@pytest.fixture
def summarised() -> Talk:
    talk = Talk(model_tokens=1_000_000, summarise=True)
    talk.exchange(26)
    return talk


def test_pruning_requests_a_summary_of_the_removed_messages_and_the_marker_shows_it(summarised):
    (request,) = summaries(summarised.effects)
    (gap,) = summarised.window.history.removals.gaps
    assert (request.first, request.last) == (gap.first, gap.last)
    assert len(request.messages) == gap.count
    used = summarised.window.head.tally.used_tokens
    summarised.answer(request, "They said hello.", 12)
    (removal,) = summarised.window.history.removals.gaps
    assert removal.marker == f"... [{gap.count} messages removed: They said hello.] ..."
    assert summarised.window.head.tally.used_tokens == used + 12


def test_a_manual_clear_requests_no_summary():
    talk = Talk(summarise=True)
    talk.exchange(3)
    (cleared,) = talk.control("clear")
    assert isinstance(cleared, ContextPruned)
    assert cleared.pruning.count == 6


def test_the_next_summary_request_includes_the_existing_summary_and_its_answer_replaces_it(summarised):
    (first,) = summaries(summarised.effects)
    summarised.answer(first, "They said hello.", 12)
    summarised.exchange(10)
    (_, second) = summaries(summarised.effects)
    assert second.summary == "They said hello."
    summarised.answer(second, "They greeted each other.", 9)
    (gap,) = summarised.window.history.removals.gaps
    assert (gap.summary, gap.summary_tokens) == ("They greeted each other.", 9)
    summarised.answer(second, "They greeted each other.", 9)
    assert summarised.window.history.removals.gaps == (gap,), "told twice"


def test_two_summaries_built_on_the_same_earlier_summary_are_both_kept(summarised):
    (first,) = summaries(summarised.effects)
    summarised.answer(first, "One.")
    summarised.exchange(20)
    _, second, third = summaries(summarised.effects)
    assert second.summary == third.summary == "One."
    summarised.answer(second, "One and two.")
    summarised.answer(third, "One and three.")
    (gap,) = summarised.window.history.removals.gaps
    assert "two" in gap.summary and "three" in gap.summary


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_summaries_that_arrive_out_of_order_or_twice_lose_nothing(summarised, order):
    summarised.exchange(10)
    requests = summaries(summarised.effects)
    texts = ("Early greetings.", "Later greetings.")
    for at in (*order, *order):
        summarised.answer(requests[at], texts[at])
    (gap,) = summarised.window.history.removals.gaps
    assert gap.summary == "Early greetings. Later greetings."
    assert gap.summary_tokens == 10


def test_the_total_size_of_summaries_in_a_context_is_bounded(summarised):
    talk = summarised
    for _ in range(20):
        talk.exchange(10)
        for request in summaries(talk.effects)[-1:]:
            part = "x" * (LONGEST_SUMMARY // 5) + str(talk.offset)
            talk.control("summarised", 90, first=request.last, last=request.last, summary=part, known="another")
    assert talk.window.head.tally.summary_tokens <= SUMMARIES_IN_ONE_MARKER * talk.policy.window.summary_tokens


def test_a_summary_that_fills_the_context_triggers_pruning():
    talk = Talk(max_messages=200, summarise=True)
    talk.exchange(40)
    (request,) = summaries(talk.effects)
    left = talk.window.head.tally.used_tokens
    talk.answer(request, "A very long summary.", 800 - left)
    assert talk.warned() == ["warning", "warning"]
    assert talk.window.head.tally.used_tokens <= 700


def test_a_summary_that_matches_no_existing_gap_changes_nothing(summarised):
    before = replace(summarised.window.history.removals)
    summarised.control("summarised", 5, first=0, last=10_000, summary="too wide")
    summarised.control("summarised", 5, first=0, last=3)
    assert summarised.window.history.removals == before
