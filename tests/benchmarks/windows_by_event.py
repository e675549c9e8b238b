"""The window stage's work an event at a time, for those that have no batches: the same decoding, tokens, windows and rows."""

import time
from collections.abc import Callable

import tiktoken

from schemas import codec
from schemas.messages import Message
from schemas.policies import Policies
from streams.windows import rows
from streams.windows.tokens import TokenCounter
from streams.windows.window import Window
from tests.benchmarks.signals import ENCODING


class WindowsByEvent:
    """Keeps the windows it has seen in memory, as memstream does; the first message of each reads the rows."""

    def __init__(self) -> None:
        self._count_tokens = TokenCounter(tiktoken.get_encoding(ENCODING))
        self._policies = Policies()
        self._windows: dict[str, Window] = {}

    def apply(self, value: bytes, partition: int, offset: int, read: Callable[[bytes], bytes | None]) -> rows.Rows:
        """The rows that the message changed; None deletes."""
        message = codec.decode(value, Message)
        window = self._window(message.conversation_id, partition, read)
        tokens = self._count_tokens(message.content)
        window.add(message, offset, tokens, self._policies.match(window.head.scope), time.time())
        return rows.save(window)

    def _window(self, conversation_id: str, partition: int, read: Callable[[bytes], bytes | None]) -> Window:
        window = self._windows.get(conversation_id)
        if window is None:
            window = rows.load(conversation_id, read) or Window.opened(conversation_id, partition)
            self._windows[conversation_id] = window
        return window
