"""Marks on messages already sent: validity, effect on pruning, and idempotency."""

import msgspec
import pytest

from schemas import codec
from schemas.conversations.adjustments import MOST_MARKS
from schemas.conversations.window_settings import WindowSettings
from schemas.policies.policies import Policy
from schemas.windows.window_controls import WindowControl
from streams.windows.effects import MessageMarked
from streams.windows.rows import rows
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION, always, control, message, terms
from tests.unit.windows.one_window import NOW

SMALL = terms(Policy(name="small", extract=False, window=WindowSettings(max_messages=10, min_recent=2)))


@pytest.fixture
def window() -> Window:
    return Window.opened(CONVERSATION, partition=2)


def say(window: Window, *numbers: int, **fields: object) -> None:
    for number in numbers:
        window.add(message(number, **fields), number, 10, always(SMALL), NOW)


def mark(window: Window, number: int, importance: str, offset: int) -> list[str]:
    event = control("mark", message_id=f"m{number}", importance=importance)
    effects = window.control(event, offset, SMALL, NOW)
    return [each.outcome for each in effects if isinstance(each, MessageMarked)]


def shown(window: Window) -> list[int]:
    return list(window.history.in_context)


def prune(window: Window, offset: int) -> list[int]:
    window.control(control("prune"), offset, SMALL, NOW)
    return shown(window)


@pytest.mark.parametrize("importance", ["pinned", "important"])
def test_a_message_pinned_or_marked_important_after_it_was_sent_outlives_older_and_newer_ones(window, importance):
    say(window, *range(1, 9))
    assert mark(window, 2, importance, 0) == ["applied"]
    say(window, *range(9, 20))
    assert 2 in shown(window) and 1 not in shown(window)


def test_a_pinned_message_stays_when_important_ones_are_removed(window):
    say(window, 1, 2, 3)
    mark(window, 1, "pinned", 0)
    for number in range(2, 13):
        say(window, number)
        mark(window, number, "important", number)
    assert 1 in shown(window) and 2 not in shown(window)


def test_an_expendable_message_is_removed_before_older_ones(window):
    say(window, *range(1, 11))
    assert mark(window, 6, "expendable", 0) == ["applied"]
    say(window, 11)
    assert 6 not in shown(window)


def test_a_normal_mark_revokes_the_importance_a_message_was_sent_with(window):
    say(window, 1, important=True)
    say(window, *range(2, 10))
    assert mark(window, 1, "normal", 0) == ["applied"]
    say(window, *range(10, 20))
    assert 1 not in shown(window)
    assert window.adjustments.marks == {}


def test_a_normal_mark_revokes_an_earlier_pinned_mark(window):
    say(window, *range(1, 9))
    mark(window, 1, "pinned", 0)
    mark(window, 1, "normal", 1)
    say(window, *range(9, 20))
    assert (1 in shown(window), window.adjustments.marks) == (False, {})


def test_a_redelivered_mark_changes_nothing(window):
    say(window, 1, 2, 3)
    mark(window, 1, "pinned", 5)
    mark(window, 1, "normal", 6)
    assert mark(window, 1, "pinned", 5) == []
    assert window.adjustments.marks == {}


def test_a_mark_that_overtakes_its_message_waits_for_it(window):
    say(window, 1)
    assert mark(window, 3, "pinned", 0) == ["waiting"]
    say(window, *range(2, 20))
    assert 3 in shown(window)


def test_a_mark_on_a_removed_message_is_reported_as_left_and_not_stored(window):
    say(window, *range(1, 20))
    assert 1 not in shown(window)
    assert mark(window, 1, "pinned", 0) == ["left"]
    assert window.adjustments.marks == {}


def test_the_number_of_marks_is_bounded_and_marks_of_unknown_messages_are_dropped_first(window):
    roomy = terms(Policy(name="roomy", window=WindowSettings(max_messages=200)))
    for number in range(1, MOST_MARKS + 1):
        window.add(message(number), number, 10, always(roomy), NOW)
        mark(window, number, "important", number)
    window.add(message(100), 100, 10, always(roomy), NOW)
    assert mark(window, 100, "important", 200) == ["full"]
    mark(window, 1, "normal", 201)
    assert mark(window, 999, "important", 202) == ["waiting"]
    assert mark(window, 100, "important", 203) == ["applied"]
    assert "m999" not in window.adjustments.marks


def test_marks_are_stored_in_a_row_of_their_own_that_later_saves_do_not_rewrite(window):
    say(window, *range(1, 9))
    mark(window, 2, "pinned", 0)
    kept = rows.save(window)
    again = rows.load(CONVERSATION, kept.get)
    assert again is not None
    say(again, *range(9, 20))
    assert 2 in shown(again)
    changed = rows.save(again)
    assert rows.adjustments_key(CONVERSATION) not in changed
    assert rows.tombstone(again)[rows.adjustments_key(CONVERSATION)] is None


def test_a_window_without_marks_has_no_adjustments_row(window):
    say(window, 1)
    assert rows.adjustments_key(CONVERSATION) not in rows.save(window) | rows.tombstone(window)


def test_a_cleared_and_restored_message_keeps_its_mark(window):
    held = terms(Policy(name="held", window=WindowSettings(max_messages=10, min_recent=2)))
    for number in range(1, 6):
        window.add(message(number), number, 10, always(held), NOW)
    mark(window, 1, "pinned", 0)
    window.control(control("clear"), 1, held, NOW)
    assert shown(window) == []
    window.control(control("restore"), 2, held, NOW + 1)
    assert window.history.in_context[1].mark == "pinned"


def test_a_mark_without_a_message_id_is_rejected():
    raw = {"conversation_id": "c", "kind": "mark", "at": "2026-11-22T12:00:00Z", "importance": "pinned"}
    with pytest.raises(msgspec.ValidationError, match="needs a message_id and an importance"):
        msgspec.convert(raw, WindowControl)
    assert codec.decode(codec.encode(control("mark", message_id="m", importance="normal")), WindowControl)
