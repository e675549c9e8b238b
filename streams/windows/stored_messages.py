"""The messages of a window, the table rows that hold them, and the ids that are not accepted again."""

from collections.abc import Iterable

from streams.windows.entry import Entry
from streams.windows.rows.chunks import Chunks
from streams.windows.seen_messages import SeenMessages


class StoredMessages:
    """`entries` holds the window's messages by position, in order; `unsaved` are the positions without a row.

    `chunks` are the rows that hold messages, and `empty_chunks` the numbers of rows to delete. `memory_bytes` is the approximate
    size of the entries. `removed_digests` are the digests of messages that left the window, oldest first.
    """

    def __init__(self, entries: Iterable[Entry], chunks: Chunks, removed_digests: Iterable[str]) -> None:
        self.entries = {entry.position: entry for entry in entries}
        self.memory_bytes = sum(entry.memory_bytes for entry in self.entries.values())
        self.unsaved: list[int] = []
        self.chunks = chunks
        self.empty_chunks: list[int] = []
        self._ids = SeenMessages((entry.message.message_id for entry in self.entries.values()), removed_digests)

    def has_seen(self, message_id: str) -> bool:
        """Whether a message is in the window, or is among the latest that left it."""
        return message_id in self._ids

    @property
    def removed_digests(self) -> tuple[str, ...]:
        return self._ids.removed

    def add(self, entry: Entry) -> None:
        self.entries[entry.position] = entry
        self.memory_bytes += entry.memory_bytes
        self.unsaved.append(entry.position)
        self._ids.add(entry.message.message_id)

    def remove(self, position: int) -> str:
        """Removes a message and returns its id. Its row is deleted with its last message."""
        entry = self.entries.pop(position)
        self.memory_bytes -= entry.memory_bytes
        self._ids.remove(entry.message.message_id)
        if (number := self.chunks.remove_message(position)) is not None:
            self.empty_chunks.append(number)
        return entry.message.message_id

    def rewrite_all(self) -> None:
        """Deletes every row and writes the remaining messages to new ones: old rows also contain removed messages."""
        self.empty_chunks += self.chunks.clear()
        self.unsaved = list(self.entries)
