"""Windows as table rows: a head per conversation, and beside it sealed chunks of messages and what left its context.

A message is written in the chunk of the batch that brought it, and again when small chunks are folded into larger ones, so
the cost of a message grows with the logarithm of its window's length at most. Chunks go before their head, which holds the
applied offsets and is the commit point.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

from schemas import codec
from streams.windows import gaps
from streams.windows.entry import Entry
from streams.windows.head import Chunk, Head, Removals
from streams.windows.window import Window

SEPARATOR = b"\x00"  # JSON escapes control characters, so no encoded identifier contains it
# What keys begin with: the heads lie together, to be scanned without the messages.
HEADS, CHUNKS, REMOVALS = b'"', b"chunk" + SEPARATOR, b"removed" + SEPARATOR
CHUNK_BYTES = 262_144  # of one row at most, unless a single message is larger
FOLDED = 8
LARGEST_FOLDED = CHUNK_BYTES // FOLDED

Rows = dict[bytes, bytes | None]
Written = dict[int, list[bytes]]  # the encoded messages of chunks, by the chunk's first position
Read = Callable[[bytes], bytes | None]


def head_key(conversation_id: str) -> bytes:
    """JSON, so that keys are legible with Kafka's tools and never contain the separator."""
    return codec.encode(conversation_id)


def chunk_key(conversation_id: str, first: int) -> bytes:
    return CHUNKS + head_key(conversation_id) + SEPARATOR + str(first).encode()


def removals_key(conversation_id: str) -> bytes:
    return REMOVALS + head_key(conversation_id)


def is_head(key: bytes) -> bool:
    return key.startswith(HEADS)


def load(conversation_id: str, read: Read) -> Window | None:
    """The window as its rows describe it, or None when there is none."""
    row = read(head_key(conversation_id))
    if row is None:
        return None
    head = codec.decode(row, Head)
    removals = removals_of(head, read)
    entries = (entry for chunk in head.chunks for entry in _chunk(conversation_id, chunk, read))
    there = (each for each in entries if not (head.extracted(each.position) and _left(removals, each.position)))
    return Window(head, there, removals)


def removals_of(head: Head, read: Read) -> Removals:
    """What left the context of the window that a head describes."""
    if not head.prunings:
        return Removals()
    return codec.decode(read(removals_key(head.scope.conversation_id)), Removals)


def _chunk(conversation_id: str, chunk: Chunk, read: Read) -> tuple[Entry, ...]:
    return codec.decode(read(chunk_key(conversation_id, chunk.first)), tuple[Entry, ...])


def _left(removals: Removals, position: int) -> bool:
    return gaps.holds(removals.gaps, position)


def save(window: Window) -> Rows:
    """The rows that changed: new chunks, what left, the head, then tombstones of chunks that nothing refers to any more."""
    conversation_id = window.head.scope.conversation_id
    written, gone = _seal(window), {chunk.first for chunk in window.dropped}
    _fold(window, written, gone)
    window.fresh, window.dropped = [], []
    rows: Rows = {chunk_key(conversation_id, first): b"[%b]" % b",".join(parts) for first, parts in written.items()}
    if window.history.changed:
        rows[removals_key(conversation_id)] = codec.encode(window.history.removals)
        window.history.changed = False
    rows[head_key(conversation_id)] = codec.encode(window.head)
    for first in sorted(gone - written.keys()):
        rows[chunk_key(conversation_id, first)] = None
    return rows


def _seal(window: Window) -> Written:
    """Puts fresh messages into chunks at the end of the list; returns what is to be written, by each chunk's first position."""
    written: Written = {}
    size = CHUNK_BYTES
    for position in window.fresh:
        entry = window.entries.get(position)
        if entry is None:
            continue
        part = codec.encode(entry)
        size += len(part)
        if size > CHUNK_BYTES:
            window.head.chunks.append(Chunk(position, position, 0))
            parts = written[position] = []
            size = len(part)
        parts.append(part)
        window.head.chunks[-1].last = position
        window.head.chunks[-1].count += 1
        window.head.chunks[-1].size += len(part)
    return written


def _fold(window: Window, written: Written, gone: set[int]) -> None:
    """Makes one chunk of the last eight whenever they are of a size or smaller, as a log-structured tree does.

    So the head lists a number of chunks that grows with the logarithm of the window's length, and a message is written
    again once for every factor of eight.
    """
    chunks = window.head.chunks
    while len(tail := _tail(chunks)) >= FOLDED:
        parts = [part for chunk in tail for part in written.get(chunk.first) or _parts(window, chunk)]
        del chunks[-len(tail) :]
        count, size = sum(chunk.count for chunk in tail), sum(map(len, parts))
        chunks.append(Chunk(tail[0].first, tail[-1].last, count, size))
        for chunk in tail:
            written.pop(chunk.first, None)
            gone.add(chunk.first)
        written[tail[0].first] = parts


def _tail(chunks: list[Chunk]) -> list[Chunk]:
    """The chunks at the end that are of the last one's size, by factors of eight, or smaller; none too large to be folded."""
    level = _level(chunks[-1]) if chunks else 0
    return list(takewhile(lambda chunk: _level(chunk) <= level and chunk.size <= LARGEST_FOLDED, reversed(chunks)))[
        ::-1
    ]


def _level(chunk: Chunk) -> int:
    return (chunk.count.bit_length() - 1) // 3


def _parts(window: Window, chunk: Chunk) -> list[bytes]:
    """The encoded messages of a chunk, found from the end: it is the newest chunks that are folded."""
    newest = takewhile(lambda item: item[0] >= chunk.first, reversed(window.entries.items()))
    return [codec.encode(entry) for position, entry in newest if position <= chunk.last][::-1]


def tombstone(window: Window) -> Rows:
    """Deletes a window altogether, its head last."""
    conversation_id = window.head.scope.conversation_id
    gone: Rows = {chunk_key(conversation_id, chunk.first): None for chunk in (*window.head.chunks, *window.dropped)}
    if window.head.prunings:
        gone[removals_key(conversation_id)] = None
    return gone | {head_key(conversation_id): None}


def heads(scan: Callable[[bytes], Iterable[tuple[bytes, bytes]]]) -> Iterator[Head]:
    """The head of every window of a partition, whose rows `scan` finds by the beginning of their keys."""
    for _, value in scan(HEADS):
        yield codec.decode(value, Head)
