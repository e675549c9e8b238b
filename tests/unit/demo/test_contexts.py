"""The demo shows a context around its largest marker."""

from datetime import UTC, datetime

from deploy.demo.contexts import MARKER, NEIGHBOURS_SHOWN, SHOWN_CHARS, Entry, context_entries, entries_around_marker
from schemas.conversations.messages import Message, ToolCall
from schemas.conversations.windows import Gap, WindowState
from sinks.archive.messages import ArchivedMessage
from tests.fakes.windows import a_state

AT = datetime(2026, 3, 2, tzinfo=UTC)
PARTITION = 2


def archived(
    position: int, content: str = "", calls: tuple[ToolCall, ...] = (), partition: int = PARTITION
) -> ArchivedMessage:
    message = Message(
        conversation_id="talk",
        message_id=str(position),
        role="assistant" if calls else "user",
        timestamp=AT,
        content=content or f"said at {position}",
        tool_calls=calls,
    )
    return ArchivedMessage(message=message, partition=partition, position=position)


def left(*gaps: Gap) -> WindowState:
    """Returns the state of a window whose context has these gaps."""
    return a_state("talk", partition=PARTITION, gaps=gaps)


TALK = [archived(position) for position in range(30)]


def texts(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries]


def test_markers_are_shown_where_messages_were_removed():
    shown = texts(list(context_entries(TALK[:6], left(Gap(1, 1, 1, 5), Gap(3, 4, 2, 9)))))
    assert shown == [
        "said at 0",
        "... [1 message removed] ...",
        "said at 2",
        "... [2 messages removed] ...",
        "said at 5",
    ]


def test_messages_of_another_partition_are_not_shown():
    shown = texts(list(context_entries([archived(3, partition=PARTITION + 1), archived(4)], left())))
    assert shown == ["said at 4"]


def test_the_largest_marker_is_shown_with_its_neighbouring_messages():
    shown = entries_around_marker(TALK, left(Gap(2, 2, 1, 5), Gap(12, 16, 5, 25)))
    assert shown[NEIGHBOURS_SHOWN] == Entry(MARKER, "... [5 messages removed] ...")
    assert (shown[NEIGHBOURS_SHOWN - 1].text, shown[NEIGHBOURS_SHOWN + 1].text) == ("said at 11", "said at 17")
    assert len(shown) == 2 * NEIGHBOURS_SHOWN + 1


def test_a_marker_at_the_beginning_is_shown_first():
    assert entries_around_marker(TALK, left(Gap(0, 20, 21, 100)))[0].role == MARKER


def test_a_long_message_is_truncated_and_a_tool_call_is_shown_by_name():
    entries = list(
        context_entries(
            [archived(0, "word \n" * 60), archived(1, "Looking.", (ToolCall(id="1", name="read"),))], left()
        )
    )
    assert len(entries[0].text) == SHOWN_CHARS
    assert entries[0].text.startswith("word word") and entries[0].text.endswith("...")
    assert entries[1] == Entry("assistant", "Looking. [calls read]")
