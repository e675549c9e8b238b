"""A manual clear can be undone for a limited time, during which its messages stay in the window."""

from schemas.conversations.windows import UNDO_S
from schemas.kafka import topics
from streams.windows.effects import ContextRestored
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, control, terms
from tests.fakes.table import Table
from tests.unit.windows.one_window import NOW, POLICY, TERMS, answer, say


def cleared(*numbers: int) -> Window:
    """Extracted and cleared, with nothing to wait for but the time of the undo."""
    window = Window.opened(CONVERSATION, 2)
    say(window, *numbers)
    (request,) = window.control(control("flush"), 0, TERMS, NOW)
    answer(window, request, 1)
    window.control(control("clear"), 2, TERMS, NOW)
    return window


def shown(window: Window) -> list[int]:
    return list(window.history.in_context)


def test_restore_returns_cleared_messages_beside_those_sent_since() -> None:
    window = cleared(1, 2, 3)
    assert shown(window) == []
    say(window, 4)
    (effect,) = window.control(control("restore"), 3, TERMS, NOW + UNDO_S)
    assert isinstance(effect, ContextRestored)
    assert (effect.restored, effect.statistics.messages_in_context) == (3, 4)
    assert shown(window) == [1, 2, 3, 4]
    assert (window.history.removals.gaps, window.head.cleared_at, window.head.last_prune) == ((), None, None)


def test_a_clear_becomes_final_after_the_undo_time_and_its_messages_leave_the_window() -> None:
    window = cleared(1, 2)
    assert list(window.entries) == [1, 2]
    assert window.deadline(POLICY).at == NOW + UNDO_S
    window.control(control("due"), 3, TERMS, NOW + UNDO_S)
    assert list(window.entries) == []
    assert window.control(control("restore"), 4, TERMS, NOW + UNDO_S) == []
    assert window.head.cleared_at == NOW


def test_a_clear_can_be_undone_after_the_window_is_reloaded_from_its_rows() -> None:
    table = Table()
    window = cleared(1, 2)
    table.save(window)
    window = table.load()
    (effect,) = window.control(control("restore"), 3, TERMS, NOW + 1)
    assert isinstance(effect, ContextRestored) and effect.restored == 2
    table.save(window)
    assert shown(table.load()) == [1, 2]


def test_a_clear_can_no_longer_be_undone_after_a_later_pruning() -> None:
    window = cleared(1, 2)
    say(window, *range(3, 80))
    assert window.history.removals.gaps, "pruned meanwhile"
    assert window.control(control("restore"), 3, TERMS, NOW + 1) == []
    assert 1 not in window.entries and 1 not in shown(window)


def test_clearing_an_empty_context_leaves_the_previous_clear_undoable() -> None:
    window = cleared(1, 2)
    window.control(control("clear"), 3, TERMS, NOW + 1)
    (effect,) = window.control(control("restore"), 4, TERMS, NOW + 2)
    assert isinstance(effect, ContextRestored) and effect.restored == 2


def test_restore_returns_messages_that_still_wait_for_extraction() -> None:
    window = Window.opened(CONVERSATION, 2)
    say(window, 1, 2)
    window.control(control("clear"), 0, TERMS, NOW)
    window.control(control("restore"), 1, TERMS, NOW)
    assert shown(window) == [1, 2]
    (request,) = window.control(control("flush"), 2, TERMS, NOW)
    assert [each.position for each in request.messages] == [1, 2]


def test_a_redelivered_restore_changes_nothing() -> None:
    window = cleared(1, 2)
    window.control(control("restore"), 3, TERMS, NOW)
    window.control(control("clear"), 4, TERMS, NOW)
    assert window.control(control("restore"), 3, TERMS, NOW) == []
    assert shown(window) == []
    assert window.head.applied[topics.WINDOW_CONTROL] == 5


def test_restore_without_a_previous_clear_changes_nothing() -> None:
    window = Window.opened(CONVERSATION, 2)
    say(window, 1)
    assert window.control(control("restore"), 0, terms(POLICY), NOW) == []
    assert shown(window) == [1]
