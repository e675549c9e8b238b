"""The events that a chat service publishes with its own Kafka client, in one file. Copy it; it needs the standard library alone.

await producer.send_and_wait(*chat_message("c1", "user", "I'm allergic to peanuts.", app_id="kitchen", user_id="ada"))
await producer.send_and_wait(*conversation_ended("c1"))
"""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4


def chat_message(
    conversation_id: str,
    role: str,
    content: str,
    *,
    message_id: str | None = None,
    topic: str = "chat.messages",
    **fields: Any,
) -> tuple[str, bytes, bytes]:
    """Topic, value and key of a message, as producers take them.

    `fields` are `app_id`, `user_id`, `tenant_id`, `name`, `timestamp` (now by default) and the other fields of the event. Give a
    `message_id` of your own if you may send the message again: memstream takes each id once.
    """
    event = {"message_id": message_id or str(uuid4()), "role": role, "content": content} | fields
    return kafka_record(topic, conversation_id, event)


def conversation_ended(
    conversation_id: str, *, topic: str = "chat.conversations.ended", **fields: Any
) -> tuple[str, bytes, bytes]:
    """Topic, value and key of the end of a conversation. With `message_count` in `fields` memstream waits for late messages."""
    return kafka_record(topic, conversation_id, fields)


def kafka_record(topic: str, conversation_id: str, fields: dict[str, Any]) -> tuple[str, bytes, bytes]:
    """The key keeps a conversation in one partition and therefore in order."""
    event = {"conversation_id": conversation_id, "timestamp": datetime.now(UTC).isoformat()} | fields
    return topic, json.dumps(event).encode(), conversation_id.encode()
