"""Pruning of the context by limits and boundaries, its events with reasons, and incremental counts."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from agents.windows.records import outgoing
from schemas.conversations.messages import ToolCall
from schemas.conversations.window_settings import MOST_MESSAGES
from schemas.conversations.windows import UNDO_S, Calibration
from streams.windows.context import statistics
from streams.windows.context.history import MAX_REASONS, MAX_SYSTEM_PROMPTS
from streams.windows.context.tally import Tally
from streams.windows.effects import ContextPruned, ContextWarning
from streams.windows.rows import rows
from streams.windows.rows.head import REMEMBERED_PRUNINGS
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from tests.fakes.chats import CONVERSATION, always, ended, in_context, message, requests_among, unextracted
from tests.fakes.talk import NOW, SIZE, Talk


def test_a_context_at_the_warning_level_emits_a_warning_and_is_pruned_to_the_target():
    talk = Talk(max_messages=200)
    talk.say("system", 100)
    talk.exchange(34)
    assert talk.effects == []
    warned, pruned = talk.say("user", 20)
    assert isinstance(warned, ContextWarning)
    assert warned.statistics.percent_used == 80.0
    assert isinstance(pruned, ContextPruned)
    assert pruned.pruning.cause == "usage"
    assert pruned.pruning.tokens_before == 800
    assert 600 < pruned.pruning.tokens_after <= 700
    assert pruned.statistics.total_tokens == pruned.pruning.tokens_after
    assert talk.window.head.tally.used_tokens == pruned.pruning.tokens_after


def test_a_message_that_jumps_to_the_aggressive_level_prunes_the_context_to_the_lower_target():
    talk = Talk(max_messages=200)
    talk.exchange(35)
    talk.say("user", 210)
    assert talk.warned() == ["aggressive"]
    (pruned,) = talk.pruned()
    assert pruned.pruning.level == "aggressive"
    assert pruned.pruning.tokens_after <= 600


def test_a_warning_is_emitted_again_only_after_usage_fell_below_its_level():
    talk = Talk(max_messages=200, min_recent=100)
    talk.exchange(45)  # nothing may leave: everything is recent
    assert talk.warned() == ["warning", "aggressive"]
    assert talk.pruned() == []
    talk.control("clear")
    talk.exchange(40)
    assert talk.warned() == ["warning", "aggressive", "warning"]


def test_exceeding_the_message_limit_prunes_in_batches_instead_of_at_every_message():
    talk = Talk(model_tokens=1_000_000)
    talk.exchange(100)
    assert 8 <= len(talk.pruned()) <= 12
    assert {pruned.pruning.cause for pruned in talk.pruned()} == {"usage"}
    assert talk.warned() == []
    assert len(in_context(talk.window)) <= 50


def test_a_finished_task_is_pruned_when_the_next_task_begins():
    talk = Talk(model_tokens=100_000, min_recent=2)
    talk.say("user", content="Please fix the login page, it crashes.")
    talk.say("assistant", content="Fixed: the session was read before it was opened.")
    talk.say("user", content="Great, that works now. Thanks!")
    talk.say("assistant", content="You are welcome.")
    effects = talk.say("user", content="Next task: write a migration for the invoices table.")
    (pruned,) = effects
    assert isinstance(pruned, ContextPruned)
    assert pruned.pruning.cause == "boundary"
    assert set(pruned.reasons.values()) == {"completed_task"}


def test_messages_stay_in_context_when_pruning_at_boundaries_is_disabled():
    talk = Talk(model_tokens=100_000, min_recent=1, prune_at_boundary=False, prune_at_session_start=False)
    talk.say("user", content="Great, that works now. Thanks!")
    talk.say("user", content="Next task: write a migration for the invoices table.")
    talk.say("user", at=100_000)
    assert talk.effects == []


def test_a_long_pause_begins_a_new_task_and_keeps_unfinished_messages():
    talk = Talk(model_tokens=100_000, min_recent=1)
    talk.exchange(3)
    assert talk.say("user", at=100_000) == []
    assert [turn.segment for turn in talk.window.history.messages_in_context()] == [0] * 6 + [1]


def test_a_message_after_the_end_event_begins_a_new_session_and_prunes_the_old_one_once():
    talk = Talk(model_tokens=100_000, min_recent=1)
    talk.exchange(2)
    talk.note(talk.window.end(ended(timestamp=message(10).timestamp), 0, 0, 100, talk.terms, NOW))
    assert talk.say("user", at=9) == [], "it was said before the end and came late"
    (pruned,) = talk.say("user", at=20_000)
    assert isinstance(pruned, ContextPruned)
    assert pruned.pruning.cause == "session_start"
    assert in_context(talk.window) == [5]
    assert talk.say("user", at=20_001) == []
    assert talk.window.head.ended


def test_messages_after_the_end_are_requested_once_after_silence_and_then_by_the_usual_triggers():
    talk = Talk(model_tokens=100_000)
    talk.exchange(2)
    talk.note(talk.window.end(ended(timestamp=message(10).timestamp), 0, 0, 100, talk.terms, NOW))
    talk.say("user", at=20_000)
    assert talk.window.deadline(talk.policy).at == NOW + talk.policy.late_idle_s
    (request,) = requests_among(talk.window.due(0, talk.terms, NOW + talk.policy.late_idle_s))
    assert [each.position for each in request.messages] == [4]
    assert not talk.window.head.ended
    talk.say("user", at=20_060)
    assert requests_among(talk.window.due(0, talk.terms, NOW + 600)) == []


def test_a_repeated_system_prompt_replaces_the_earlier_copy():
    talk = Talk(model_tokens=100_000)
    for _ in range(300):
        talk.say("system", content="You are a helpful assistant.")
        talk.exchange(1)
    prompts = [turn for turn in talk.window.history.messages_in_context() if turn.role == "system"]
    assert len(prompts) == 1
    assert len(talk.window.history.removals.gaps) <= 60
    assert {reason for pruned in talk.pruned() for reason in pruned.reasons.values()} >= {"repeated"}


def test_only_the_first_and_the_latest_of_many_different_system_prompts_are_kept():
    talk = Talk(model_tokens=100_000)
    for number in range(50):
        talk.say("system", content=f"It is {number} o'clock.")
    positions = [turn.position for turn in talk.window.history.messages_in_context()]
    assert positions == [0, *range(50 - MAX_SYSTEM_PROMPTS + 1, 50)]


def test_a_tool_call_with_hundreds_of_results_does_not_protect_them_all_from_pruning():
    talk = Talk(model_tokens=1_000_000)
    talk.say("assistant", tool_calls=(ToolCall(id="x", name="n"),))
    for _ in range(500):
        talk.say("tool", tool_call_id="x")
    assert len(in_context(talk.window)) <= 60


def test_the_event_for_a_pruning_of_very_many_messages_has_a_bounded_size():
    talk = Talk(max_messages=MOST_MESSAGES, model_tokens=10_000_000)
    for number in range(MOST_MESSAGES):
        talk.say("user", message_id=f"{number:06}" + "\x01" * 250)
    (cleared,) = talk.control("clear")
    assert isinstance(cleared, ContextPruned)
    assert cleared.pruning.count == MOST_MESSAGES
    assert len(cleared.reasons) == MAX_REASONS
    assert len(outgoing(cleared, 0, datetime.now(UTC)).value or b"") < 1_048_576


def test_cleared_messages_are_dropped_after_the_undo_time_if_the_policy_does_not_extract():
    talk = Talk(extract=False)
    talk.say("system", 10)
    talk.exchange(2)
    talk.control("clear")
    talk.control("flush")
    assert talk.window.head.requested_to == 5
    talk.control("due", after_s=UNDO_S)
    loaded = rows.load(CONVERSATION, rows.save(talk.window).get)
    assert loaded is not None
    assert list(loaded.entries) == list(talk.window.entries) == [0]


def test_message_ids_stay_known_for_deduplication_after_a_policy_stops_extracting():
    talk = Talk(max_messages=2, min_recent=1)
    talk.exchange(2)
    talk.terms = Terms.of(replace(talk.policy, extract=False), talk.terms.budget)
    talk.note(talk.window.end(ended(), 0, 0, 100, talk.terms, NOW))
    loaded = rows.load(CONVERSATION, rows.save(talk.window).get)
    assert loaded is not None
    assert list(loaded.entries) == list(talk.window.entries)
    loaded.add(message(0, message_id="m0"), 99, 10, always(talk.terms), NOW)
    assert loaded.head.received == 4


def test_a_manual_prune_reduces_the_context_to_the_lower_target():
    talk = Talk(max_messages=200)
    talk.exchange(37)
    assert talk.pruned() == []
    (pruned,) = talk.control("prune")
    assert isinstance(pruned, ContextPruned)
    assert (pruned.pruning.cause, pruned.pruning.level) == ("manual", "ok")
    assert pruned.pruning.tokens_after <= 600
    assert talk.control("prune") == []


def test_clear_keeps_the_system_prompt_in_context_and_unextracted_messages_in_the_window():
    talk = Talk()
    talk.say("system", 50)
    talk.exchange(3)
    (cleared,) = talk.control("clear")
    assert isinstance(cleared, ContextPruned)
    assert cleared.pruning.cause == "cleared"
    assert cleared.pruning.count == 6
    assert in_context(talk.window) == [0]
    assert unextracted(talk.window) == list(range(7))
    assert talk.window.head.cleared_at == NOW
    (request,) = requests_among(talk.control("flush"))
    assert [each.position for each in request.messages] == list(range(7))
    talk.control("extraction_completed", request_id=request.request_id)
    talk.control("due", after_s=UNDO_S)
    assert list(talk.window.entries) == [0]


def test_clearing_an_empty_context_emits_an_event_too():
    talk = Talk()
    (cleared,) = talk.control("clear")
    assert isinstance(cleared, ContextPruned)
    assert cleared.pruning.count == 0


def test_the_pruned_event_gives_a_reason_for_each_removed_message_and_its_runs_add_up():
    talk = Talk(model_tokens=1_000_000)
    talk.exchange(26)
    (pruned,) = talk.pruned()
    assert set(pruned.reasons) == {f"m{at}" for at in range(talk.offset) if at not in in_context(talk.window)}
    assert sum(run.count for run in pruned.pruning.removed) == len(pruned.reasons)
    assert all(run.first <= run.last for run in pruned.pruning.removed)


def test_a_pruned_message_leaves_the_window_at_once_if_the_policy_does_not_extract():
    talk = Talk(extract=False, model_tokens=1_000_000)
    talk.exchange(40)
    assert requests_among(talk.effects) == []
    assert list(talk.window.entries) == in_context(talk.window)
    assert talk.window.head.waiting_since == 0.0
    assert talk.window.deadline(talk.policy).at == NOW + talk.policy.triggers.abandoned_s + talk.policy.grace_s


def test_waiting_messages_are_not_requested_after_the_policy_stops_extracting():
    talk = Talk()
    talk.exchange(2)
    talk.terms = Terms.of(replace(talk.policy, extract=False), talk.terms.budget)
    assert talk.control("flush") == []
    assert unextracted(talk.window) == []


def test_the_running_tally_equals_a_full_recount_of_the_messages():
    talk = Talk(model_tokens=2_000, min_recent=3)
    for step in range(200):
        talk.say(("user", "assistant", "tool", "user", "assistant", "system")[step % 6], 1 + step % 40)
        if step == 120:
            talk.control("clear")
        gaps = talk.window.history.removals.gaps
        assert talk.window.head.tally == Tally.of(talk.window.history.messages_in_context(), gaps)
    shown = statistics.statistics(
        talk.window.history.messages_in_context(), gaps, talk.terms.budget, talk.window.head.last_prune
    )
    assert shown == statistics.of(talk.window.head.tally, talk.terms.budget, talk.window.head.last_prune)
    assert shown.total_messages == 200


def test_billed_tokens_are_compared_with_the_context_size_of_the_model():
    talk = Talk(max_messages=200)
    talk.terms = Terms.of(talk.policy, Budget.of(talk.policy.window, SIZE, Calibration(1.25, 20)))
    talk.exchange(31)
    assert talk.effects == []
    talk.exchange(1)
    assert talk.warned() == ["warning"]


def test_the_latest_prunings_are_remembered_and_survive_a_restart():
    talk = Talk(extract=False, model_tokens=1_000_000)
    talk.exchange(150)
    prunings = talk.window.history.removals.prunings
    assert len(prunings) == REMEMBERED_PRUNINGS
    assert [each.number for each in prunings] == list(range(len(talk.pruned()) - 7, len(talk.pruned()) + 1))
    stored = rows.save(talk.window)
    loaded = rows.load(CONVERSATION, stored.get)
    assert loaded is not None
    assert loaded.history.removals == talk.window.history.removals
    assert in_context(loaded) == in_context(talk.window)


@pytest.mark.parametrize("strategy", ["rolling_window", "importance", "hybrid"])
def test_a_question_stays_until_its_answer_has_come(strategy):
    talk = Talk(model_tokens=1_000_000, strategy=strategy)
    talk.exchange(5)
    talk.say("user", content="Which of these files has the bug?")
    for number in range(60):
        talk.say("assistant", tool_calls=(ToolCall(id=f"c{number}", name="read"),))
        talk.say("tool", tool_call_id=f"c{number}")
        assert 10 in in_context(talk.window)
    talk.say("assistant", content="It is in the parser.")
    assert in_context(talk.window)[-1] == talk.offset - 1
    assert 10 in in_context(talk.window)
