"""Windows as table rows: a head per conversation, and sealed chunks of messages beside it.

A message is written once, in the chunk of the batch that brought it, so the cost of a message does not grow with the
length of its window. Chunks go before their head, which holds the applied offsets and is the commit point.
"""

from collections.abc import Callable, Iterable, Iterator

from schemas import codec
from schemas.requests import SliceMessage
from streams.windows.head import Chunk, Head
from streams.windows.window import Window

SEPARATOR = (
    b"\x00"  # does not occur in JSON-decoded identifiers that were encoded again: control characters are escaped
)
CHUNK_BYTES = 262_144  # content in one row at most, unless a single message is larger

Rows = dict[bytes, bytes | None]
Read = Callable[[bytes], bytes | None]


def head_key(conversation_id: str) -> bytes:
    """JSON, so that keys are legible with Kafka's tools and never contain the separator."""
    return codec.encode(conversation_id)


def chunk_key(conversation_id: str, first: int) -> bytes:
    return head_key(conversation_id) + SEPARATOR + str(first).encode()


def is_head(key: bytes) -> bool:
    return SEPARATOR not in key


def load(conversation_id: str, read: Read) -> Window | None:
    """The window as its rows describe it, or None when there is none."""
    row = read(head_key(conversation_id))
    if row is None:
        return None
    head = codec.decode(row, Head)
    messages = [message for chunk in head.chunks for message in _chunk(conversation_id, chunk, read)]
    return Window(head, (message for message in messages if not _extracted(head, message.position)))


def _chunk(conversation_id: str, chunk: Chunk, read: Read) -> tuple[SliceMessage, ...]:
    return codec.decode(read(chunk_key(conversation_id, chunk.first)), tuple[SliceMessage, ...])


def _extracted(head: Head, position: int) -> bool:
    return any(first <= position <= last for first, last in head.extracted)


def save(window: Window) -> Rows:
    """The rows that changed: new chunks, the head, then tombstones of chunks that nothing refers to any more."""
    conversation_id = window.head.scope.conversation_id
    rows: Rows = {}
    for run in _sealed(window):
        window.head.chunks.append(Chunk(run[0].position, run[-1].position, len(run)))
        rows[chunk_key(conversation_id, run[0].position)] = codec.encode(run)
    window.fresh = []
    rows[head_key(conversation_id)] = codec.encode(window.head)
    for chunk in window.dropped:
        rows[chunk_key(conversation_id, chunk.first)] = None
    window.dropped = []
    return rows


def _sealed(window: Window) -> list[list[SliceMessage]]:
    runs: list[list[SliceMessage]] = []
    size = 0
    for position in window.fresh:
        message = window.messages.get(position)
        if message is None:
            continue
        if not runs or size + len(message.content) > CHUNK_BYTES:
            runs.append([])
            size = 0
        runs[-1].append(message)
        size += len(message.content)
    return runs


def tombstone(window: Window) -> Rows:
    """Deletes a window altogether."""
    return {head_key(window.head.scope.conversation_id): None}


def load_all(scanned: Iterable[tuple[bytes, bytes]], read: Read) -> Iterator[Window]:
    """Every window among the rows of a partition."""
    for key, value in scanned:
        if is_head(key):
            window = load(codec.decode(value, Head).scope.conversation_id, read)
            if window is not None:
                yield window
