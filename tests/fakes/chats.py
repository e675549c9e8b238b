"""Messages, ends and control events of one conversation, with minimal content."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.conversations.messages import ConversationEnded, Message
from schemas.extraction.requests import ExtractionRequest, SliceMessage
from schemas.policies.policies import Policy
from schemas.windows.window_controls import WindowControl
from streams.windows.effects import Effect
from streams.windows.terms import Terms
from streams.windows.tokens.accounting import Budget
from streams.windows.window import TermsOf, Window

CONVERSATION = "conversation-1"
BEGAN = datetime(2026, 11, 1, tzinfo=UTC)


def message(number: int, content: str = "hello", **fields: Any) -> Message:
    fields = {"conversation_id": CONVERSATION, "message_id": f"m{number}", "role": "user"} | fields
    return Message(timestamp=BEGAN + timedelta(seconds=number), content=content, **fields)


def ended(**fields: Any) -> ConversationEnded:
    defaults: dict[str, Any] = {"conversation_id": CONVERSATION, "timestamp": BEGAN}
    return ConversationEnded(**defaults | fields)


def control(kind: str, **fields: Any) -> WindowControl:
    defaults: dict[str, Any] = {"conversation_id": CONVERSATION, "kind": kind, "at": BEGAN}
    return WindowControl(**defaults | fields)


def sliced(position: int, tokens: int = 10, content: str = "hello", **fields: Any) -> SliceMessage:
    defaults: dict[str, Any] = {"message_id": f"m{position}", "role": "user", "timestamp": BEGAN}
    return SliceMessage(**defaults | fields, content=content, position=position, tokens=tokens)


def terms(policy: Policy, model_tokens: int = 200_000) -> Terms:
    return Terms.of(policy, Budget.of(policy.window, model_tokens))


def always(known: Terms) -> TermsOf:
    """The same terms for every window."""
    return lambda window: known


def unextracted(window: Window) -> list[int]:
    """Positions of the messages whose extraction is not stored yet."""
    return [position for position in window.entries if not window.head.extracted(position)]


def in_context(window: Window) -> list[int]:
    """Positions of the messages that are in context."""
    return [turn.position for turn in window.history.messages_in_context()]


def requests_among(effects: Iterable[Effect]) -> list[ExtractionRequest]:
    return [each for each in effects if isinstance(each, ExtractionRequest)]
