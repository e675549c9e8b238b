"""Messages that repeat forgotten memories, set by the test."""

from collections.abc import Mapping, Sequence

from schemas.extraction.candidates import Wish
from schemas.memories.events import MessageId
from schemas.memories.memories import Memory
from sinks.postgres.connection import Connection


class FakeRepeatedMessages:
    """(conversation, message) keys of repeats, by the text of a memory."""

    def __init__(self, said: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        self._said = said

    async def of(self, connection: Connection, namespace: str, wish: Wish, memory: Memory) -> tuple[MessageId, ...]:
        return tuple(MessageId(conversation_id=one, message_id=other) for one, other in self._said.get(memory.text, ()))
