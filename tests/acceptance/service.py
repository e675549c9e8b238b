"""A chat service as in the requirements: sends messages, ends conversations and follows memory events."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

from schemas.kafka import topics
from tests.builders.chat_events import end, message
from tests.deployment import Deployment, Event, eventually

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
WITHIN_S = 120.0  # where it hangs; a machine that is busy otherwise takes its time


class ChatService:
    """One service under one policy: `app_id` is what its preset was put for. `fields` are those of all its messages."""

    def __init__(self, deployment: Deployment, app_id: str, **fields: str) -> None:
        self.deployment = deployment
        self.fields = {"app_id": app_id} | fields
        self._numbers = count(1)

    def conversation(self) -> str:
        """An id that is not in use."""
        return f"{self.fields['app_id']}-{uuid4().hex[:8]}"

    def message(self, conversation: str, role: str, content: str, **fields: Any) -> Event:
        number = next(self._numbers)
        at = BEGIN + timedelta(seconds=number)
        return message(conversation, number, content, at=at, **({"role": role} | self.fields | fields))

    async def say(self, conversation: str, *turns: tuple[str, str], **fields: Any) -> None:
        """Turns of (role, content)."""
        await self.deployment.publish(*(self.message(conversation, role, said, **fields) for role, said in turns))

    async def end(self, conversation: str) -> None:
        await self.deployment.publish(end(conversation, at=BEGIN + timedelta(seconds=next(self._numbers))))

    async def ask(self, conversation: str, kind: str) -> None:
        """Sends a manual control to a window: flush, prune or clear."""
        value = {"conversation_id": conversation, "kind": kind, "at": BEGIN.isoformat()}
        await self.deployment.publish(Event(topics.WINDOW_CONTROL, conversation, value))

    async def command(self, kind: str, namespace: str, **fields: Any) -> None:
        """Returns once it is accepted."""
        name = uuid4().hex
        value = {"command_id": name, "kind": kind, "namespace": namespace, "at": BEGIN.isoformat(), "actor": "admin"}
        await self.deployment.publish(Event(topics.COMMANDS, namespace, value | fields))

        async def answered() -> list[Any]:
            events = await self.deployment.values(topics.ACTIVITY)
            return [event["type"] for event in events if event["data"].get("command_id") == name]

        assert await eventually(answered, f"{kind} answered", WITHIN_S) == ["memstream.command.accepted"]

    async def extracted(self, conversation: str, times: int = 1) -> None:
        """Waits until this number of slices of the conversation have an outcome."""

        async def completed() -> bool:
            events = await self.activity(conversation)
            return sum(event["type"] == "memstream.extraction.completed" for event in events) >= times

        await eventually(completed, f"{times} extractions of {conversation}", WITHIN_S)

    async def archived(self, conversation: str, messages: int) -> None:
        """Waits until the archive has this number of messages of the conversation."""

        async def there() -> bool:
            rows = await self.deployment.fetch("SELECT 1 FROM messages WHERE conversation_id = $1", conversation)
            return len(rows) >= messages

        await eventually(there, f"{messages} messages of {conversation} in the archive", WITHIN_S)

    async def cleared(self, conversation: str) -> None:
        """Until it is told that nothing of the conversation is in context, and what is extracted of it."""

        async def is_cleared() -> bool:
            rows = await self.deployment.fetch(
                "SELECT 1 FROM windows WHERE conversation_id = $1 AND cleared_at IS NOT NULL", conversation
            )
            return bool(rows)

        await eventually(is_cleared, f"{conversation} cleared", WITHIN_S)

    async def activity(self, conversation: str) -> list[dict[str, Any]]:
        return [event for event in await self.deployment.values(topics.ACTIVITY) if event["subject"] == conversation]

    async def memories(self, namespace: str) -> list[dict[str, Any]]:
        """The live ones, oldest first."""
        return await self.deployment.fetch(
            "SELECT * FROM memories WHERE namespace = $1 AND status = 'active' ORDER BY created_at, memory_id",
            namespace,
        )

    async def texts(self, namespace: str) -> list[str]:
        return [memory["text"] for memory in await self.memories(namespace)]

    async def window(self, conversation: str, messages: int) -> dict[str, Any]:
        """Waits until all messages are in the archive and in the context or removed from it, and returns the projected
        window."""

        async def complete_row() -> dict[str, Any] | None:
            rows = await self.deployment.fetch("SELECT * FROM windows WHERE conversation_id = $1", conversation)
            return rows[0] if rows and rows[0]["statistics"]["total_messages"] >= messages else None

        await self.archived(conversation, messages)
        found = await eventually(complete_row, f"{messages} messages in the window of {conversation}", WITHIN_S)
        assert found is not None
        return found
