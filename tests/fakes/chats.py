"""Messages, ends and controls of one conversation, with little to say."""

from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.messages import ConversationEnded, Message
from schemas.requests import SliceMessage, WindowControl

CONVERSATION = "conversation-1"
BEGAN = datetime(2026, 11, 1, tzinfo=UTC)


def message(number: int, content: str = "hello", **fields: Any) -> Message:
    fields = {"conversation_id": CONVERSATION, "message_id": f"m{number}", "role": "user"} | fields
    return Message(timestamp=BEGAN + timedelta(seconds=number), content=content, **fields)


def ended(**fields: Any) -> ConversationEnded:
    return ConversationEnded(**({"conversation_id": CONVERSATION, "timestamp": BEGAN} | fields))


def control(kind: str, **fields: Any) -> WindowControl:
    return WindowControl(**({"conversation_id": CONVERSATION, "kind": kind, "at": BEGAN} | fields))


def sliced(position: int, tokens: int = 10, content: str = "hello", **fields: Any) -> SliceMessage:
    return SliceMessage(
        **{"message_id": f"m{position}", "role": "user", "timestamp": BEGAN} | fields,
        content=content,
        position=position,
        tokens=tokens,
    )
