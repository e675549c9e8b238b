"""Pruned contexts of the samples: statistics, removed messages, and the entries around the largest marker."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from msgspec import Struct

from deploy.cli import terminal, window_view
from schemas.conversations.windows import WindowState
from sinks.archive.messages import Archive, ArchivedMessage
from sinks.archive.progress import ConversationProgress
from sinks.postgres.connection import Pool
from sinks.windows.projection import Windows
from streams.windows.context import gaps
from streams.windows.context.statistics import headline

NEIGHBOURS_SHOWN = 5  # entries shown on either side of a marker
SHOWN_CHARS = 90  # characters of a message
MARKER = "marker"


class Entry(Struct, frozen=True):
    """An entry of a context: a message's role and beginning, or a marker."""

    role: str
    text: str


class PrunedContext(Struct):
    """A window with removed messages; `entries_around_marker` are the entries on either side of its largest marker."""

    headline: str
    state: WindowState
    around: list[Entry]

    @property
    def conversation_id(self) -> str:
        return self.state.scope.conversation_id

    def as_json(self) -> dict[str, Any]:
        """`window` is what `memstream window show --json` prints."""
        return {"headline": self.headline, "window": window_view.as_json(self.state), "around": self.around}


async def projected_windows(pool: Pool, states: dict[str, ConversationProgress]) -> list[WindowState]:
    """The windows whose projection shows all messages added and extracted. Raises Retryable."""
    found = []
    for conversation_id, processed in states.items():
        state = await Windows(pool).of(conversation_id)
        if state is not None and await complete(pool, state, processed):
            found.append(state)
    return found


async def complete(pool: Pool, state: WindowState, processed: ConversationProgress) -> bool:
    last = await Archive(pool).latest(processed.conversation_id, 1)
    counted = state.statistics.total_messages >= processed.archived
    return counted and all(state.extracted_to > message.position for message in last)


async def pruned_contexts(pool: Pool, states: Iterable[WindowState]) -> list[PrunedContext]:
    """The pruned contexts, most prunings first. Raises Retryable."""
    now = datetime.now(UTC).timestamp()
    return [
        PrunedContext(
            headline=headline(state.statistics, now),
            state=state,
            around=entries_around_marker(await Archive(pool).conversation(state.scope.conversation_id), state),
        )
        for state in sorted(states, key=lambda state: -len(state.prunings))
        if state.gaps
    ]


def entries_around_marker(messages: Sequence[ArchivedMessage], state: WindowState) -> list[Entry]:
    """The entries of a context around its largest marker; `messages` are all messages of the conversation, in order."""
    entries = list(context_entries(messages, state))
    largest = max(state.gaps, key=lambda gap: gap.count)
    at = entries.index(Entry(MARKER, largest.marker))
    return entries[max(0, at - NEIGHBOURS_SHOWN) : at + NEIGHBOURS_SHOWN + 1]


def context_entries(messages: Sequence[ArchivedMessage], state: WindowState) -> Iterator[Entry]:
    """Messages in context, and markers in place of removed ones, in order. Messages of another partition were never in it."""
    own = [each for each in messages if each.partition == state.partition and each.position >= state.opened]
    stayed = ((each.position, message_entry(each)) for each in own if not gaps.holds(state.gaps, each.position))
    markers = ((gap.first, Entry(MARKER, gap.marker)) for gap in state.gaps)
    return (entry for _, entry in sorted(chain(stayed, markers), key=lambda placed: placed[0]))


def message_entry(archived: ArchivedMessage) -> Entry:
    message = archived.message
    calls = [f"[calls {call.name}]" for call in message.tool_calls]
    text = " ".join([*message.content.split(), *calls])
    return Entry(message.role, text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 3]}...")


def show_context(context: PrunedContext) -> None:
    terminal.console.print(f"\nThe context of {context.conversation_id}", style="bold", markup=False)
    terminal.print_line(f"{context.headline}\n")
    window_view.show_statistics(context.state)
    window_view.show_prunings(context.state.prunings)
    rows = [(entry.role, entry.text) for entry in context.around]
    terminal.show_table("around the largest marker", ("role", "begins"), rows, wide="begins")
