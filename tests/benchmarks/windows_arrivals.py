"""The adapter of these benchmarks to windows and their rows."""

from schemas.conversations.messages import Message
from schemas.conversations.window_settings import WindowSettings
from schemas.policies.policies import Policy
from streams.windows.rows import rows
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from streams.windows.window import Window

MODEL_TOKENS = 200_000


def terms(settings: WindowSettings) -> Terms:
    policy = Policy(name="benchmark", window=settings)
    return Terms.of(policy, Budget.of(settings, MODEL_TOKENS))


def opened(conversation_id: str) -> Window:
    return Window.opened(conversation_id, 0)


def add(window: Window, message: Message, offset: int, tokens: int, under: Terms) -> None:
    window.add(message, offset, tokens, lambda _: under, message.timestamp.timestamp())


def saved_bytes(window: Window) -> int:
    """Bytes of the keys and values that a checkpoint writes now."""
    return sum(len(key) + len(value or b"") for key, value in rows.save(window).items())
