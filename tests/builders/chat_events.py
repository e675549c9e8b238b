"""Builders of chat events: messages and ends of conversations."""

from datetime import datetime
from typing import Any

from schemas.kafka import topics
from tests.deployment import Event

AT = "2026-11-01T10:00:00Z"


def message(conversation: str, number: int, text: str, *, at: datetime | str = AT, **fields: Any) -> Event:
    """A message of a user, unless `role` is given. Its id is made of the conversation and the number."""
    named = {"conversation_id": conversation, "message_id": f"{conversation}-{number}", "timestamp": said_at(at)}
    return Event(topics.MESSAGES, conversation, named | {"role": "user", "content": text} | fields)


def end(conversation: str, *, at: datetime | str = AT, **fields: Any) -> Event:
    return Event(topics.ENDED, conversation, {"conversation_id": conversation, "timestamp": said_at(at)} | fields)


def talk(conversation: str, text: str, *, at: datetime | str = AT, **fields: Any) -> list[Event]:
    """A conversation of one message, and its end."""
    return [message(conversation, 1, text, at=at, **fields), end(conversation, at=at, message_count=1)]


def said_at(at: datetime | str) -> str:
    return at if isinstance(at, str) else at.isoformat()
