"""A manual prune can be undone for a limited time, unless the context changes otherwise."""

from datetime import UTC, datetime

import pytest

from schemas import codec
from schemas.conversations.windows import UNDO_S
from schemas.erasure.erasures import Fence
from streams.windows.context.tally import Tally
from streams.windows.effects import ContextPruned, ContextRestored
from streams.windows.rows import rows
from streams.windows.rows.head import Removals
from tests.fakes.chats import CONVERSATION, ended, in_context
from tests.fakes.table import Table
from tests.fakes.talk import NOW, Talk, summaries

SAID = 70  # messages of ten tokens each; a prune by hand leaves 600 tokens of them

LARGE = {"max_messages": 200, "min_recent": 4}


def talk_of_many(**settings) -> Talk:
    talk = Talk(**LARGE | settings)
    talk.exchange(SAID // 2)
    assert talk.pruned() == []
    return talk


def pruned(**settings) -> Talk:
    """Extracted and pruned by hand, with nothing to wait for but the time of the undo."""
    talk = talk_of_many(**settings)
    (request,) = talk.control("flush")
    talk.control("extraction_completed", request_id=request.request_id)
    assert isinstance(talk.control("prune")[0], ContextPruned)
    assert len(in_context(talk.window)) < SAID
    return talk


def restored(talk: Talk, after_s: float = 1.0) -> list[int]:
    """Returns the number of messages that each undo of the request restored."""
    return [each.restored for each in talk.control("restore", after_s=after_s) if isinstance(each, ContextRestored)]


def test_restore_returns_messages_of_a_manual_prune_beside_those_sent_since() -> None:
    talk = pruned()
    left = SAID - len(in_context(talk.window))
    talk.say("user", 10)
    (effect,) = talk.control("restore", after_s=UNDO_S)
    assert isinstance(effect, ContextRestored) and effect.undone is not None
    assert (effect.restored, effect.undone.cause, effect.statistics.messages_in_context) == (left, "manual", SAID + 1)
    assert in_context(talk.window) == list(range(SAID + 1))
    assert talk.window.head.last_prune is None
    (record,) = talk.window.history.removals.prunings
    assert record.undone_at == NOW + UNDO_S
    assert talk.control("restore", after_s=1) == [], "there is nothing more to undo"


def test_a_prune_becomes_final_after_the_undo_time_and_its_messages_leave_the_window() -> None:
    talk = pruned()
    assert len(talk.window.entries) == SAID
    assert talk.window.deadline(talk.policy).at == NOW + UNDO_S
    talk.control("due", after_s=UNDO_S)
    assert list(talk.window.entries) == in_context(talk.window)
    assert restored(talk) == []


def test_a_restore_requested_within_the_undo_time_succeeds_even_if_a_worker_processes_it_late() -> None:
    talk = pruned()
    in_time = datetime.fromtimestamp(NOW + UNDO_S, UTC)
    late = talk.control("restore", after_s=UNDO_S + 3_600, at=datetime.fromtimestamp(NOW + UNDO_S + 1, UTC))
    assert late == []
    (effect,) = talk.control("restore", after_s=UNDO_S + 3_600, at=in_time)
    assert isinstance(effect, ContextRestored)


def test_a_prune_can_be_undone_after_another_worker_loads_the_window_from_its_rows() -> None:
    talk, table = pruned(), Table()
    table.save(talk.window)
    talk.window = table.load()
    assert len(restored(talk)) == 1
    assert in_context(talk.window) == list(range(SAID))
    table.save(talk.window)
    assert in_context(table.load()) == list(range(SAID))


def test_a_redelivered_restore_changes_nothing() -> None:
    talk = pruned()
    assert len(restored(talk)) == 1
    talk.control("prune")
    kept = in_context(talk.window)
    talk.controls -= 2
    assert talk.control("restore", after_s=1) == []
    assert in_context(talk.window) == kept


def test_a_prune_that_removes_nothing_leaves_the_previous_prune_undoable() -> None:
    talk = pruned()
    assert talk.control("prune", after_s=1) == []
    assert len(restored(talk)) == 1


def test_a_manual_prune_can_no_longer_be_undone_after_an_automatic_prune() -> None:
    talk = pruned()
    talk.exchange(20)
    assert talk.pruned()[-1].pruning.cause == "usage"
    assert restored(talk) == []
    assert set(talk.window.entries) == {*in_context(talk.window), *talk.window.history.removed}
    assert 0 not in talk.window.entries


def test_a_repeated_system_prompt_leaves_the_prune_undoable_and_its_old_copy_is_not_restored() -> None:
    talk = Talk(**LARGE)
    talk.say("system", 10, "You are a cook.")
    talk.exchange(SAID // 2)
    talk.control("prune")
    talk.say("system", 10, "You are a cook.")
    talk.say("system", 10, "You are a cook.")
    assert len(restored(talk)) == 1
    assert in_context(talk.window) == [*range(1, SAID + 1), SAID + 2]
    assert talk.window.head.tally == Tally.of(
        talk.window.history.messages_in_context(), talk.window.history.removals.gaps
    )
    assert talk.window.head.last_prune.cause == "usage"


def test_restore_undoes_only_a_clear_that_followed_the_prune() -> None:
    talk = pruned()
    kept = in_context(talk.window)
    talk.control("clear", after_s=1)
    assert in_context(talk.window) == []
    assert restored(talk) == [len(kept)]
    assert in_context(talk.window) == kept
    assert restored(talk) == [], "one step can be undone"


def test_undoing_a_prune_leaves_an_earlier_clear_in_force() -> None:
    talk = talk_of_many()
    talk.control("clear")
    cleared_at = talk.window.head.cleared_at
    talk.exchange(SAID // 2)
    talk.control("prune", after_s=1)
    assert len(restored(talk)) == 1
    assert in_context(talk.window) == list(range(SAID, 2 * SAID))
    assert talk.window.head.cleared_at == cleared_at
    assert talk.window.head.last_prune.cause == "cleared"


def test_restored_messages_that_exceed_the_limits_are_pruned_again() -> None:
    talk = pruned()
    talk.exchange(8)
    assert len(talk.pruned()) == 1
    back, again = talk.control("restore", after_s=1)
    assert isinstance(back, ContextRestored)
    assert isinstance(again, ContextPruned) and again.pruning.cause == "usage"
    assert restored(talk) == []


def test_restore_does_not_return_erased_messages() -> None:
    talk, table = pruned(), Table()
    table.save(talk.window)
    first = talk.window.entries[0].message.timestamp
    talk.window.erase(Fence(first, {0: 5}), talk.terms, NOW)
    assert restored(talk) == []
    table.save(talk.window)
    assert not set(range(5)) & set(table.load().entries)


def test_a_window_that_expired_has_nothing_to_restore() -> None:
    talk = pruned()
    talk.note(talk.window.end(ended(), 0, 0, 1_000, talk.terms, NOW))
    later = talk.policy.grace_s + 1
    assert talk.window.expired(talk.policy, NOW + later)
    table = Table()
    table.save(talk.window)
    table.apply(rows.tombstone(talk.window))
    talk.window = table.load()
    assert restored(talk) == []


def test_a_summary_that_arrives_before_a_restore_stays_with_its_earlier_gap() -> None:
    talk = talk_of_many(summarise=True)
    talk.exchange(6)
    (earlier,) = summaries(talk.effects)
    talk.effects.clear()
    talk.control("prune")
    (request,) = summaries(talk.effects)
    talk.answer(earlier, "They greeted each other.")
    assert len(restored(talk)) == 1
    (gap,) = talk.window.history.removals.gaps
    assert gap.summary == "They greeted each other."
    talk.answer(request, "Much was said.")
    assert talk.window.history.removals.gaps == (gap,), "what it tells of is in context again"
    assert talk.window.head.tally == Tally.of(talk.window.history.messages_in_context(), (gap,))


@pytest.mark.parametrize("kind", ["prune", "clear"])
def test_a_prune_or_clear_stored_by_an_earlier_version_can_be_undone(kind: str) -> None:
    talk, table = talk_of_many(), Table()
    talk.control(kind)
    table.save(talk.window)
    key = rows.removals_key(CONVERSATION)
    whole = codec.decode(table.rows[key], list)
    whole[3] = whole[3][:3]
    table.rows[key] = codec.encode(whole)
    assert codec.decode(table.rows[key], Removals).undoable is not None
    talk.window = table.load()
    assert len(restored(talk)) == 1
    assert in_context(talk.window) == list(range(SAID))


def test_a_prune_can_be_undone_under_a_policy_without_extraction() -> None:
    talk = Talk(extract=False, **LARGE)
    talk.exchange(SAID // 2)
    talk.control("prune")
    talk.say("user", 10)
    assert len(restored(talk)) == 1
    assert in_context(talk.window) == list(range(SAID + 1))


def test_repeated_manual_prunes_keep_only_the_messages_of_the_latest_prune_for_undo() -> None:
    talk = pruned()
    for _ in range(5):
        talk.exchange(6)
        talk.control("flush")
        for request in talk.window.head.pending:
            talk.control("extraction_completed", request_id=request.request_id)
        (effect,) = talk.control("prune", after_s=1)
        assert len(talk.window.entries) == len(in_context(talk.window)) + effect.pruning.count
