"""A clear by hand can be undone for a while: what it took stays in the window for as long."""

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


def test_what_a_clear_took_comes_back_beside_what_was_said_since() -> None:
    window = cleared(1, 2, 3)
    assert shown(window) == []
    say(window, 4)
    (told,) = window.control(control("restore"), 3, TERMS, NOW + UNDO_S)
    assert isinstance(told, ContextRestored)
    assert (told.restored, told.statistics.messages_in_context) == (3, 4)
    assert shown(window) == [1, 2, 3, 4]
    assert (window.history.removals.gaps, window.head.cleared_at, window.head.last_prune) == ((), None, None)


def test_after_its_time_a_clear_stands_and_what_it_took_leaves_the_window() -> None:
    window = cleared(1, 2)
    assert list(window.entries) == [1, 2]
    assert window.deadline(POLICY).at == NOW + UNDO_S
    window.control(control("due"), 3, TERMS, NOW + UNDO_S)
    assert list(window.entries) == []
    assert window.control(control("restore"), 4, TERMS, NOW + UNDO_S) == []
    assert window.head.cleared_at == NOW


def test_a_window_that_is_read_from_its_rows_again_can_be_restored_too() -> None:
    table = Table()
    window = cleared(1, 2)
    table.save(window)
    window = table.load()
    (told,) = window.control(control("restore"), 3, TERMS, NOW + 1)
    assert isinstance(told, ContextRestored) and told.restored == 2
    table.save(window)
    assert shown(table.load()) == [1, 2]


def test_what_leaves_after_a_clear_ends_its_undo() -> None:
    window = cleared(1, 2)
    say(window, *range(3, 80))
    assert window.history.removals.gaps, "pruned meanwhile"
    assert window.control(control("restore"), 3, TERMS, NOW + 1) == []
    assert 1 not in window.entries and 1 not in shown(window)


def test_a_clear_of_nothing_leaves_the_one_before_undoable() -> None:
    window = cleared(1, 2)
    window.control(control("clear"), 3, TERMS, NOW + 1)
    (told,) = window.control(control("restore"), 4, TERMS, NOW + 2)
    assert isinstance(told, ContextRestored) and told.restored == 2


def test_what_waits_for_its_extraction_comes_back_as_well() -> None:
    window = Window.opened(CONVERSATION, 2)
    say(window, 1, 2)
    window.control(control("clear"), 0, TERMS, NOW)
    window.control(control("restore"), 1, TERMS, NOW)
    assert shown(window) == [1, 2]
    (request,) = window.control(control("flush"), 2, TERMS, NOW)
    assert [each.position for each in request.messages] == [1, 2]


def test_a_restore_that_is_delivered_again_changes_nothing() -> None:
    window = cleared(1, 2)
    window.control(control("restore"), 3, TERMS, NOW)
    window.control(control("clear"), 4, TERMS, NOW)
    assert window.control(control("restore"), 3, TERMS, NOW) == []
    assert shown(window) == []
    assert window.head.applied[topics.WINDOW_CONTROL] == 5


def test_without_a_clear_there_is_nothing_to_restore() -> None:
    window = Window.opened(CONVERSATION, 2)
    say(window, 1)
    assert window.control(control("restore"), 0, terms(POLICY), NOW) == []
    assert shown(window) == [1]
