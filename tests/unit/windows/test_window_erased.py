"""An erasure removes older content from a window and keeps newer content."""

from datetime import timedelta

from msgspec.structs import replace

from schemas import codec
from schemas.conversations.windows import Gap
from schemas.erasure.erasures import Fence
from streams.windows.rows import rows
from streams.windows.rows.head import Head
from streams.windows.window import Window
from tests.fakes.chats import BEGAN, CONVERSATION, always, control, message, unextracted
from tests.fakes.table import Table, view
from tests.unit.windows.one_window import NOW, TERMS, answer, end, say

SECRET = "Zanzibar"


def erase(window: Window, offset: int, second: int, read_to: int | None = None):
    """Erases messages up to that second of the conversation, or before `read_to`."""
    erasure = control("erase", read_to=read_to)
    return window.control(replace(erasure, at=BEGAN + timedelta(seconds=second)), offset, TERMS, NOW)


def secrets(window: Window, *numbers: int, said_at: int | None = None) -> None:
    for number in numbers:
        said = message(number, f"I live in {SECRET}")
        if said_at is not None:
            said = replace(said, timestamp=BEGAN + timedelta(seconds=said_at))
        window.add(said, number, 10, always(TERMS), NOW)


def words(table: Table) -> bool:
    return any(SECRET.encode() in row for row in table.rows.values())


def saved() -> tuple[Window, Table]:
    window, table = Window.opened(CONVERSATION, 2), Table()
    secrets(window, 0, 1)
    table.save(window)
    secrets(window, 2)
    say(window, 3, 4)
    table.save(window)
    return window, table


def test_an_erasure_removes_older_messages_from_the_window_and_from_all_rows():
    window, table = saved()
    assert words(table)
    erase(window, 0, 2)
    table.save(window)
    assert [*window.entries] == [3, 4]
    assert not words(table)
    assert view(table.load()) == view(window)
    assert (window.head.last_erasure.messages, unextracted(window)) == (3, [3, 4])


def test_an_emptied_window_still_ignores_known_offsets_and_message_ids():
    window, table = saved()
    erase(window, 0, 10)
    table.save(window)
    reloaded = table.load()
    assert (reloaded.entries, table.chunks) == ({}, [])
    secrets(reloaded, 1)
    reloaded.add(message(4), 9, 10, always(TERMS), NOW)
    assert reloaded.entries == {}, "the same message, and the same id at another place"
    assert reloaded.head.finished


def test_an_erasure_drops_a_pending_request_and_its_answer_changes_nothing():
    window, _ = saved()
    (request,) = end(window)
    erase(window, 0, 10)
    assert window.head.pending == []
    say(window, 11)
    answer(window, request, 1)
    assert unextracted(window) == [11]


def test_the_rest_of_a_partly_erased_slice_is_requested_again_under_a_new_id():
    window, table = saved()
    (request,) = end(window)
    erase(window, 0, 2)
    (left,) = window.head.pending
    assert (left.first, left.last) == (3, 4)
    assert left.request_id != request.request_id
    table.save(window)
    (again,) = table.load().due(1_000, TERMS, NOW)
    assert ([each.position for each in again.messages], again.request_id) == ([3, 4], left.request_id)


def test_a_message_with_a_future_timestamp_is_erased_by_its_offset():
    window = Window.opened(CONVERSATION, 2)
    secrets(window, 0, 1, said_at=5_000)
    erase(window, 0, 100, read_to=1)
    assert [*window.entries] == [1]


def test_a_fence_ignores_offsets_for_messages_more_than_a_day_newer_than_the_erasure():
    fence = Fence(BEGAN, {2: 1_000})
    assert fence.refuses(BEGAN + timedelta(hours=23), 2, 5)
    assert not fence.refuses(BEGAN + timedelta(hours=25), 2, 5)
    assert not fence.refuses(BEGAN + timedelta(seconds=1), 3, 5)


def test_an_erasure_removes_summaries_of_erased_messages_from_markers():
    window, table = saved()
    window.control(control("clear"), 0, TERMS, NOW)
    (gap,) = window.history.removals.gaps
    window.history.summarised(Gap(gap.first, gap.last, 0, 0, SECRET, 3), None, TERMS, NOW)
    table.save(window)
    erase(window, 1, 2)
    table.save(window)
    assert not words(table)
    assert rows.load(CONVERSATION, table.rows.get) is not None


def test_an_erasure_leaves_a_window_that_began_after_it_unchanged():
    window = Window.opened(CONVERSATION, 2)
    say(window, 7, 8)
    window.control(control("clear"), 0, TERMS, NOW)
    before = window.history.removals
    erase(window, 1, 6, read_to=7)
    assert ([*window.entries], window.history.removals) == ([7, 8], before)
    assert window.head.last_erasure.messages == 0


def test_a_repeated_erasure_changes_nothing():
    window, _ = saved()
    erase(window, 0, 2)
    before = [*window.entries]
    assert erase(window, 0, 2) == []
    assert [*window.entries] == before


def two_people() -> Window:
    """Ada says 0, 1 and 4, Bob 2, an assistant 3."""
    window = Window.opened(CONVERSATION, 2)
    for number, fields in enumerate(({}, {}, {"user_id": "bob"}, {"role": "assistant"}, {})):
        window.add(message(number, **{"user_id": "ada"} | fields), number, 10, always(TERMS), NOW)
    return window


def test_an_erasure_of_one_speaker_keeps_other_users_messages_and_removes_assistant_messages():
    window, table = two_people(), Table()
    window.control(control("erase", at=BEGAN + timedelta(seconds=9), users=("bob",)), 0, TERMS, NOW)
    table.save(window)
    assert [*window.entries] == [0, 1, 4]
    assert (window.head.last_erasure, window.head.user_erasures["bob"].messages) == (None, 2)
    assert view(table.load()) == view(window)


def test_after_the_erasure_of_its_user_a_window_shows_a_user_who_still_has_messages_or_none():
    window, table = two_people(), Table()
    assert window.head.shown_scope == window.head.scope
    for offset, (user_id, shown) in enumerate((("ada", "bob"), ("bob", None))):
        erasure = control("erase", at=BEGAN + timedelta(seconds=9), users=(user_id,))
        window.control(erasure, offset, TERMS, NOW)
        table.save(window)
        assert table.load().head.shown_scope == replace(window.head.scope, user_id=shown)
    assert window.head.scope.user_id == "ada", (
        "the erasure is repeated until it is answered, and finds the window again"
    )
    window.add(message(30, user_id="ada"), 30, 10, always(TERMS), NOW)
    table.save(window)
    assert table.load().head.shown_scope == window.head.scope, "the user wrote again"


def test_a_slice_that_lost_the_messages_of_an_erased_speaker_is_requested_under_a_new_id():
    window = two_people()
    (before,) = window.control(control("flush"), 0, TERMS, NOW)
    window.control(control("erase", at=BEGAN + timedelta(seconds=9), users=("bob",)), 1, TERMS, NOW)
    (again,) = window.due(1_000, TERMS, NOW)
    assert [each.position for each in again.messages] == [0, 1, 4]
    assert again.request_id != before.request_id
    answer(window, again, 2)
    assert unextracted(window) == []


def test_a_head_of_an_earlier_version_has_speakers_without_attributed_messages():
    head = codec.decode(b'{"scope":{"conversation_id":"c","user_id":"ada"},"partition":0,"others":["bob"]}', Head)
    assert (head.unattributed_speakers, head.other_speakers, head.in_group) == (["bob"], [], True)
    assert [scope.user_id for scope in head.speakers] == ["ada", "bob"]
