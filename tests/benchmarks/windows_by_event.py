"""The work of the window stage one event at a time, for frameworks without batches."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import tiktoken

from agents.windows.records import outgoing
from agents.windows.terms import WindowTerms
from schemas import codec
from schemas.conversations.messages import Message
from schemas.conversations.window_settings import WindowSettings
from schemas.policies.policies import Policies, Policy
from schemas.policies.triggers import Schedule, Triggers
from streams.windows.rows import rows
from streams.windows.tokens.counting import TokenCounter, message_tokens
from streams.windows.tokens.model_limits import MODEL_LIMITS_FILE, decoded
from streams.windows.window import Window
from tests.benchmarks.signals import ENCODING

# Everything that a window can do, at sizes that make it do it: some requests, prunings and summaries in each conversation.
POLICY = Policy(
    name="everything",
    triggers=Triggers(after_tokens=2_000, idle_s=600.0, age_s=3_600.0, schedule=Schedule(at="03:00")),
    window=WindowSettings(max_messages=40, summarise=True),
)


def window_terms() -> WindowTerms:
    """The policy and the table of models of every pipeline."""
    return WindowTerms(Policies((POLICY,)), decoded(MODEL_LIMITS_FILE.read_bytes()))


class WindowsByEvent:
    """Keeps the windows it has seen in memory, as memstream does; the first message of each reads the rows.

    Requests and activity events are made and dropped: publishing them is left out here, which memstream does, as it does
    timers and the projection.
    """

    def __init__(self) -> None:
        self._count_tokens = TokenCounter(tiktoken.get_encoding(ENCODING))
        self._terms = window_terms()
        self._windows: dict[str, Window] = {}

    def apply(self, value: bytes, partition: int, offset: int, read: Callable[[bytes], bytes | None]) -> rows.Rows:
        """The rows that the message changed; None deletes."""
        message, now = codec.decode(value, Message), time.time()
        window = self._window(message.conversation_id, partition, read)
        tokens = message_tokens(message, self._count_tokens)
        for effect in window.add(message, offset, tokens, self._terms.now, now):
            outgoing(effect, partition, datetime.fromtimestamp(now, UTC))
        return rows.save(window)

    def _window(self, conversation_id: str, partition: int, read: Callable[[bytes], bytes | None]) -> Window:
        window = self._windows.get(conversation_id)
        if window is None:
            window = rows.load(conversation_id, read) or Window.opened(conversation_id, partition)
            self._windows[conversation_id] = window
        return window
