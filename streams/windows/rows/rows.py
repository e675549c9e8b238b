"""Windows as table rows: a head per conversation, and beside it numbered chunks of messages and what left its context.

A message is written in the chunk of the batch that brought it. The newest chunks are numbered in a row and listed nowhere, so
neither chunk nor head costs more in a long window. Once most of those numbers belong to chunks that are gone, or there are
very many, what they hold is written again in large chunks, which the head lists. Chunks go before their head, which holds the
applied offsets and is the commit point.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from schemas import codec
from schemas.conversations.adjustments import Adjustments
from streams.windows.context import gaps
from streams.windows.entry import Entry
from streams.windows.rows.chunks import Chunks
from streams.windows.rows.head import Head, Removals
from streams.windows.window import Window

SEPARATOR = b"\x00"  # JSON escapes control characters, so no encoded identifier contains it
# What keys begin with: the heads lie together, to be scanned without the messages.
HEADS, CHUNKS, REMOVALS = b'"', b"chunk" + SEPARATOR, b"removed" + SEPARATOR
ADJUSTMENTS = (
    b"adjusted" + SEPARATOR
)  # apart from the head: a worker of an earlier version, which writes that, leaves it alone
CHUNK_BYTES = 262_144  # of one row at most, unless a single message is larger
LARGE = CHUNK_BYTES // 8  # bytes of a row that is not written again
LEAST_SPAN, LONGEST_SPAN = 512, 4_096  # numbers that loading asks for: some milliseconds
SPARSE = 4  # numbers for each chunk that is there

Rows = dict[bytes, bytes | None]
Written = dict[int, bytes]  # rows of chunks, by number
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
    """First and last key, both included, of where a window's words may rest."""
    chunks = CHUNKS + head_key(conversation_id)
    removals = removals_key(conversation_id)
    return (chunks + SEPARATOR, chunks + b"\x01"), (removals, removals + SEPARATOR)


def is_head(key: bytes) -> bool:
    return key.startswith(HEADS)


def load(conversation_id: str, read: Read) -> Window | None:
    """The window as its rows describe it, or None when there is none. Raises RuntimeError when rows of it are missing."""
    row = read(head_key(conversation_id))
    if row is None:
        return None
    head = codec.decode(row, Head)
    removals, chunks = removals_of(head, read), Chunks()
    entries: list[Entry] = []
    for number, chunk in _chunks(head, read):
        there = [each for each in chunk if not (head.extracted(each.position) and _gone(removals, each.position))]
        chunks.add(number, [each.position for each in there], len(chunk))
        entries += there
    window = Window(head, sorted(entries, key=_position), removals, chunks, adjustments_of(conversation_id, read))
    if len(window.history.shown) != head.tally.account.total_messages:
        raise RuntimeError(f"rows of the window of {conversation_id!r} are missing: {len(entries)} messages for {head}")
    return window


def removals_of(head: Head, read: Read) -> Removals:
    """What left the context of the window that a head describes."""
    if not head.has_removals:
        return Removals()
    return codec.decode(read(removals_key(head.scope.conversation_id)), Removals)


def adjustments_of(conversation_id: str, read: Read) -> Adjustments:
    """What is set for the conversation besides its policy."""
    row = read(adjustments_key(conversation_id))
    return codec.decode(row, Adjustments) if row is not None else Adjustments()


def _chunks(head: Head, read: Read) -> Iterator[tuple[int, tuple[Entry, ...]]]:
    for number in (*head.sealed, *range(head.first_row, head.next_row)):
        row = read(chunk_key(head.scope.conversation_id, number))
        if row is not None:
            yield number, codec.decode(row, tuple[Entry, ...])


def _gone(removals: Removals, position: int) -> bool:
    """Out of context, and no undo of a clear brings it back."""
    if not gaps.holds(removals.gaps, position):
        return False
    return removals.cleared is None or gaps.holds(removals.cleared.gaps, position)


def _position(entry: Entry) -> int:
    return entry.position


def save(window: Window) -> Rows:
    """The rows that changed: new chunks, what left, the head, then tombstones of chunks that nothing refers to any more."""
    conversation_id = window.head.scope.conversation_id
    written: Written = {}
    _seal(window, [entry for at in window.fresh if (entry := window.entries.get(at)) is not None], written)
    if _sprawls(window):
        _fold(window, written)
    rows: Rows = {chunk_key(conversation_id, number): row for number, row in written.items()}
    if window.history.changed:
        rows[removals_key(conversation_id)] = codec.encode(window.history.removals)
    if window.adjusted:
        rows[adjustments_key(conversation_id)] = _unless_empty(window.adjustments)
    rows[head_key(conversation_id)] = codec.encode(window.head)
    rows |= dict.fromkeys((chunk_key(conversation_id, number) for number in window.dropped), None)
    window.fresh, window.dropped, window.history.changed, window.adjusted = [], [], False, False
    return rows


def _unless_empty(adjustments: Adjustments) -> bytes | None:
    return None if adjustments == Adjustments() else codec.encode(adjustments)


def _seal(window: Window, entries: Sequence[Entry], written: Written) -> None:
    """Puts messages into new chunks with the next numbers: into one, or, where that is too large, each half by itself."""
    if not entries:
        return
    row = None if _surely_large(entries) else codec.encode(entries)
    if len(entries) > 1 and (row is None or len(row) > CHUNK_BYTES):
        middle = len(entries) // 2
        _seal(window, entries[:middle], written)
        _seal(window, entries[middle:], written)
        return
    number = window.head.next_row
    window.head.next_row += 1
    window.chunks.add(number, [entry.said.position for entry in entries], len(entries))
    written[number] = row or codec.encode(entries)


def _surely_large(entries: Iterable[Entry]) -> bool:
    """Whether their texts alone, of a byte a character and more, fill a chunk: that saves writing what is then taken apart."""
    return sum([len(entry.said.content) for entry in entries]) > CHUNK_BYTES


def _sprawls(window: Window) -> bool:
    """Whether loading would ask for many numbers of which few are there, or for very many."""
    head = window.head
    span = head.next_row - head.first_row
    return span > LONGEST_SPAN or (
        span > LEAST_SPAN and span > SPARSE * (len(window.chunks.numbers) - len(head.sealed))
    )


def _fold(window: Window, written: Written) -> None:
    """Lists every chunk in the head, small and half empty ones as few large ones."""
    head, chunks = window.head, window.chunks
    sealed = set(head.sealed)
    half_empty = {number for number in sealed if 2 * chunks.remaining(number) <= chunks.numbers[number]}
    taken = chunks.take_out(half_empty | (chunks.numbers.keys() - sealed))
    small = {number: held for number, held in taken.items() if number in half_empty or _is_small(window, held)}
    for number, held in taken.items():
        if number not in small:
            chunks.add(number, held, len(held))
        elif written.pop(number, None) is None:
            window.dropped.append(number)
    _seal(window, [window.entries[at] for at in sorted(at for held in small.values() for at in held)], written)
    head.sealed = sorted(chunks.numbers)
    head.first_row = head.next_row


def _is_small(window: Window, held: Iterable[int]) -> bool:
    return sum(len(codec.encode(window.entries[position])) for position in held) < LARGE


def tombstone(window: Window) -> Rows:
    """Deletes a window altogether, its head last."""
    conversation_id = window.head.scope.conversation_id
    gone: Rows = {chunk_key(conversation_id, number): None for number in (*window.chunks.numbers, *window.dropped)}
    if window.head.has_removals:
        gone[removals_key(conversation_id)] = None
    if window.adjusted or window.adjustments != Adjustments():
        gone[adjustments_key(conversation_id)] = None
    return gone | {head_key(conversation_id): None}


def heads(scan: Callable[[bytes], Iterable[tuple[bytes, bytes]]]) -> Iterator[Head]:
    """The head of every window of a partition, whose rows `scan` finds by the beginning of their keys."""
    for _, value in scan(HEADS):
        yield codec.decode(value, Head)
