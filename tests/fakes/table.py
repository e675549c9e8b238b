"""The rows of one window in memory, like a ledger."""

from msgspec.structs import replace

from streams.windows.rows import rows
from streams.windows.rows.rows import CHUNKS
from streams.windows.window import Window
from tests.fakes.chats import CONVERSATION


class Table:
    """Rows like those of a ledger; `written` counts bytes."""

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes] = {}
        self.written = 0

    def save(self, window: Window) -> rows.Rows:
        changed = rows.save(window)
        self.apply(changed)
        return changed

    def apply(self, changed: rows.Rows) -> None:
        for key, value in changed.items():
            self.written += len(key) + len(value or b"")
            if value is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = value

    def load(self) -> Window:
        return rows.load(CONVERSATION, self.rows.get) or Window.opened(CONVERSATION, partition=2)

    @property
    def chunks(self) -> list[bytes]:
        return [key for key in self.rows if key.startswith(CHUNKS)]


def view(window: Window) -> tuple[object, ...]:
    """The state of a window without the distribution of messages over chunks."""
    head = replace(window.head, listed_chunks=[], first_chunk=0, next_chunk=0)
    return head, window.entries, window.history.removals, window.history.removed
