"""The archive in memory: messages, and which of them are extracted."""

from collections.abc import Collection, Sequence
from datetime import datetime

from msgspec.structs import replace

from schemas.conversations.messages import Message, Scope
from schemas.conversations.windows import Gap
from schemas.errors import Retryable
from sinks.archive.messages import LAST, ArchivedMessage, Place, in_order
from streams.windows.context import gaps as gaps_


class FakeArchive:
    """`extracted` has the places of extracted messages, `completed` the times of their extractions. `down`: every call
    raises Retryable."""

    def __init__(self) -> None:
        self.messages: dict[tuple[str, str], ArchivedMessage] = {}
        self.extracted: set[Place] = set()
        self.completed: dict[Place, datetime] = {}
        self.erased_namespaces: set[str] = set()
        self.down = False

    async def store(self, messages: Sequence[ArchivedMessage]) -> int:
        before = len(self.messages)
        for each in messages:
            self.messages.setdefault((each.message.conversation_id, each.message.message_id), each)
        return len(self.messages) - before

    def say(self, conversation_id: str, *turns: tuple[str, str], partition: int = 3, **fields: object) -> None:
        """Appends messages of (role, content), one second apart. Message n is `CONVERSATION-n`."""
        first = len(self._of(conversation_id)) + 1
        for number, (role, content) in enumerate(turns, start=first):
            message = Message(
                conversation_id=conversation_id,
                message_id=f"{conversation_id}-{number}",
                role=role,  # type: ignore[arg-type]
                content=content,
                timestamp=datetime.fromtimestamp(1_772_442_000 + number).astimezone(),
                **fields,  # type: ignore[arg-type]
            )
            key = (conversation_id, message.message_id)
            self.messages[key] = ArchivedMessage(message=message, partition=partition, position=number)

    def _of(self, conversation_id: str) -> list[ArchivedMessage]:
        if self.down:
            raise Retryable("the archive is down")
        return [each for each in self.messages.values() if each.message.conversation_id == conversation_id]

    async def erased(self, namespaces: Collection[str]) -> bool:
        return not self.erased_namespaces.isdisjoint(namespaces)

    async def scopes(self, conversation_id: str) -> tuple[Scope, ...]:
        return tuple(dict.fromkeys(Scope.of(each.message) for each in self._of(conversation_id)))

    async def scopes_of(self, conversations: Collection[str]) -> dict[str, tuple[Scope, ...]]:
        known = {each: await self.scopes(each) for each in conversations}
        return {each: scopes for each, scopes in known.items() if scopes}

    async def names(self, conversations: Collection[str]) -> dict[str, list[tuple[str, bool]]]:
        found: dict[str, list[tuple[str, bool]]] = {}
        for message in (each.message for name in conversations for each in self._of(name)):
            if message.role == "user" and message.name:
                found.setdefault(message.conversation_id, []).append((message.name, message.user_id is not None))
        return found

    async def message(self, conversation_id: str, message_id: str) -> ArchivedMessage | None:
        there = (each for each in self._of(conversation_id) if each.message.message_id == message_id)
        return next(there, None)

    async def page(
        self, conversation_id: str, *, beyond: Place | None, limit: int, backwards: bool = False
    ) -> tuple[ArchivedMessage, ...]:
        start = beyond or ((LAST, LAST) if backwards else (-1, -1))
        there = sorted(self._of(conversation_id), key=place, reverse=backwards)
        return tuple(each for each in there if (place(each) < start) == backwards and place(each) != start)[:limit]

    async def unextracted(
        self, conversation_id: str, completed_before: datetime, *, limit: int = 200, max_bytes: int = 1_000_000
    ) -> tuple[Message, ...]:
        done = self.extracted | {each for each, at in self.completed.items() if at <= completed_before}
        waiting = [
            each
            for each in self._of(conversation_id)
            if each.message.role in ("user", "assistant") and each.message.content and place(each) not in done
        ]
        latest: list[ArchivedMessage] = []
        for each in waiting[::-1][:limit]:
            if sum(len(newer.message.content.encode()) for newer in latest) < max_bytes:
                latest.append(each)
        return tuple(each.message for each in in_order(latest))

    async def window(
        self, conversation_id: str, partition: int, opened: int, gaps: Sequence[Gap], *, limit: int = 1_000
    ) -> tuple[ArchivedMessage, ...]:
        there = [each for each in self._of(conversation_id) if each.partition == partition and each.position >= opened]
        there.sort(key=place)
        latest = there[-limit:]
        return tuple(
            beginning(each) if gaps_.holds(gaps, each.position) else each
            for each in there
            if each in latest or not gaps_.holds(gaps, each.position)
        )


def place(archived: ArchivedMessage) -> Place:
    return archived.partition, archived.position


def beginning(archived: ArchivedMessage) -> ArchivedMessage:
    return replace(archived, message=replace(archived.message, content=archived.message.content[:4_000]))
