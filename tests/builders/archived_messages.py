"""Builds an archived message with defaults for everything that a test does not set."""

from datetime import UTC, datetime
from typing import Any

from schemas.conversations.messages import Message
from sinks.archive.messages import ArchivedMessage

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def archived_message(
    conversation: str, position: int, *, partition: int = 3, feeds: tuple[str, ...] = (), **fields: Any
) -> ArchivedMessage:
    """A user's message at noon, with an id made of conversation and position; `fields` override the message's fields."""
    named = {"conversation_id": conversation, "message_id": f"{conversation}-{position}"}
    message = Message(**(named | {"role": "user", "timestamp": NOON, "content": "hello"} | fields))
    return ArchivedMessage(message=message, partition=partition, position=position, feeds=feeds)
