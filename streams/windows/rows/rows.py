"""Converts a window to table rows and back: a head, numbered chunks of messages, the removals, and the adjustments.

Each batch writes its messages to new chunks. New chunks have consecutive numbers and are not listed in the head, so a write
costs the same in a long window. Once most of the consecutive numbers belong to deleted chunks, or there are very many, their
messages are rewritten to large chunks, which the head lists. Chunks are written before the head, which has the applied offsets
and is the commit point.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from schemas import codec
from schemas.conversations.adjustments import Adjustments
from schemas.counts import counted
from streams.windows.context import gaps
from streams.windows.entry import Entry
from streams.windows.rows.chunks import Chunks
from streams.windows.rows.head import Head, Removals
from streams.windows.window import Window

SEPARATOR = b"\x00"  # JSON escapes control characters, so no encoded identifier contains it
# Prefixes of keys. Heads have adjacent keys, so that they can be scanned without the messages.
HEADS, CHUNKS, REMOVALS = b'"', b"chunk" + SEPARATOR, b"removed" + SEPARATOR
# A row of its own: a worker of an earlier version would drop an unknown field of the head.
ADJUSTMENTS = b"adjusted" + SEPARATOR
CHUNK_BYTES = 262_144  # the maximum of one row, unless a single message is larger
LARGE_BYTES = CHUNK_BYTES // 8  # a row of at least this many bytes is not rewritten
MIN_SPAN, MAX_SPAN = 512, 4_096  # consecutive numbers to read when loading: a few milliseconds
SPARSE = 4  # numbers for each existing chunk

Rows = dict[bytes, bytes | None]
Written = dict[int, bytes]  # encoded chunks by number
Read = Callable[[bytes], bytes | None]


def head_key(conversation_id: str) -> bytes:
    """JSON, so that keys are legible with Kafka's tools and never contain the separator."""
    return codec.encode(conversation_id)


def chunk_key(conversation_id: str, number: int) -> bytes:
    return CHUNKS + head_key(conversation_id) + SEPARATOR + str(number).encode()


def removals_key(conversation_id: str) -> bytes:
    return REMOVALS + head_key(conversation_id)


def adjustments_key(conversation_id: str) -> bytes:
    return ADJUSTMENTS + head_key(conversation_id)


def spans(conversation_id: str) -> tuple[tuple[bytes, bytes], ...]:
    """The first and last keys (both included) of each range of rows that may contain text of the conversation."""
    chunks = CHUNKS + head_key(conversation_id)
    removals = removals_key(conversation_id)
    return (chunks + SEPARATOR, chunks + b"\x01"), (removals, removals + SEPARATOR)


def is_head(key: bytes) -> bool:
    return key.startswith(HEADS)


def load(conversation_id: str, read: Read) -> Window | None:
    """The window of a conversation; None if it has no head. Raises RuntimeError if rows are missing."""
    row = read(head_key(conversation_id))
    if row is None:
        return None
    head = codec.decode(row, Head)
    removals, chunks = removals_of(head, read), Chunks()
    entries: list[Entry] = []
    for number, chunk in _chunks(head, read):
        there = [
            each
            for each in chunk
            if not (head.extracted(each.position) and _is_removed_for_good(removals, each.position))
        ]
        chunks.add(number, [each.position for each in there], len(chunk))
        entries += there
    window = Window(head, sorted(entries, key=_position), removals, chunks, adjustments_of(conversation_id, read))
    if len(window.history.in_context) != head.tally.account.total_messages:
        raise RuntimeError(
            f"rows of the window of {conversation_id!r} are missing: {counted(len(entries), 'messages')} for {head}"
        )
    return window


def removals_of(head: Head, read: Read) -> Removals:
    """The removals of the head's window."""
    if not head.has_removals:
        return Removals()
    return codec.decode(read(removals_key(head.scope.conversation_id)), Removals)


def adjustments_of(conversation_id: str, read: Read) -> Adjustments:
    """The marks, ratings and settings of the conversation."""
    row = read(adjustments_key(conversation_id))
    return codec.decode(row, Adjustments) if row is not None else Adjustments()


def _chunks(head: Head, read: Read) -> Iterator[tuple[int, tuple[Entry, ...]]]:
    for number in (*head.listed_chunks, *range(head.first_chunk, head.next_chunk)):
        row = read(chunk_key(head.scope.conversation_id, number))
        if row is not None:
            yield number, codec.decode(row, tuple[Entry, ...])


def _is_removed_for_good(removals: Removals, position: int) -> bool:
    """Whether the message is out of context and cannot be restored by an undo."""
    if not gaps.holds(removals.gaps, position):
        return False
    return removals.undoable is None or gaps.holds(removals.undoable.gaps, position)


def _position(entry: Entry) -> int:
    return entry.position


def save(window: Window) -> Rows:
    """The changed rows in writing order: new chunks, removals, adjustments, the head, tombstones of empty chunks."""
    conversation_id = window.head.scope.conversation_id
    written: Written = {}
    _write(window, [entry for at in window.messages.unsaved if (entry := window.entries.get(at)) is not None], written)
    if _is_sparse(window):
        _combine(window, written)
    rows: Rows = {chunk_key(conversation_id, number): row for number, row in written.items()}
    if window.history.changed:
        rows[removals_key(conversation_id)] = codec.encode(window.history.removals)
    if window.adjuster.changed:
        rows[adjustments_key(conversation_id)] = _unless_empty(window.adjustments)
    rows[head_key(conversation_id)] = codec.encode(window.head)
    rows |= dict.fromkeys((chunk_key(conversation_id, number) for number in window.messages.empty_chunks), None)
    window.messages.unsaved, window.messages.empty_chunks, window.history.changed, window.adjuster.changed = (
        [],
        [],
        False,
        False,
    )
    return rows


def _unless_empty(adjustments: Adjustments) -> bytes | None:
    return None if adjustments == Adjustments() else codec.encode(adjustments)


def _write(window: Window, entries: Sequence[Entry], written: Written) -> None:
    """Writes messages to one new chunk, or, if that is too large, each half to its own."""
    if not entries:
        return
    row = None if _exceeds_chunk(entries) else codec.encode(entries)
    if len(entries) > 1 and (row is None or len(row) > CHUNK_BYTES):
        middle = len(entries) // 2
        _write(window, entries[:middle], written)
        _write(window, entries[middle:], written)
        return
    number = window.head.next_chunk
    window.head.next_chunk += 1
    window.messages.chunks.add(number, [entry.message.position for entry in entries], len(entries))
    written[number] = row or codec.encode(entries)


def _exceeds_chunk(entries: Iterable[Entry]) -> bool:
    """Whether the texts alone exceed a chunk, at one byte a character: this saves encoding a chunk that must be split."""
    return sum([len(entry.message.content) for entry in entries]) > CHUNK_BYTES


def _is_sparse(window: Window) -> bool:
    """Whether loading would read too many numbers, or many numbers of deleted chunks."""
    head = window.head
    span = head.next_chunk - head.first_chunk
    return span > MAX_SPAN or (
        span > MIN_SPAN and span > SPARSE * (len(window.messages.chunks.numbers) - len(head.listed_chunks))
    )


def _combine(window: Window, written: Written) -> None:
    """Combines small and half-empty chunks to large ones, and lists every chunk in the head."""
    head, chunks = window.head, window.messages.chunks
    sealed = set(head.listed_chunks)
    half_empty = {number for number in sealed if 2 * chunks.remaining(number) <= chunks.numbers[number]}
    taken = chunks.take_out(half_empty | (chunks.numbers.keys() - sealed))
    small = {number: held for number, held in taken.items() if number in half_empty or _is_small(window, held)}
    for number, held in taken.items():
        if number not in small:
            chunks.add(number, held, len(held))
        elif written.pop(number, None) is None:
            window.messages.empty_chunks.append(number)
    _write(window, [window.entries[at] for at in sorted(at for held in small.values() for at in held)], written)
    head.listed_chunks = sorted(chunks.numbers)
    head.first_chunk = head.next_chunk


def _is_small(window: Window, held: Iterable[int]) -> bool:
    return sum(len(codec.encode(window.entries[position])) for position in held) < LARGE_BYTES


def tombstone(window: Window) -> Rows:
    """Tombstones for every row of the window, the head last."""
    conversation_id = window.head.scope.conversation_id
    chunks = (*window.messages.chunks.numbers, *window.messages.empty_chunks)
    tombstones: Rows = {chunk_key(conversation_id, number): None for number in chunks}
    if window.head.has_removals:
        tombstones[removals_key(conversation_id)] = None
    if window.adjuster.changed or window.adjustments != Adjustments():
        tombstones[adjustments_key(conversation_id)] = None
    return tombstones | {head_key(conversation_id): None}


def heads(scan: Callable[[bytes], Iterable[tuple[bytes, bytes]]]) -> Iterator[Head]:
    """The heads of all windows of a partition; `scan` returns the rows whose keys begin with a prefix."""
    for _, value in scan(HEADS):
        yield codec.decode(value, Head)
