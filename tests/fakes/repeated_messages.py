"""Messages that repeat forgotten memories, set by the test."""

from collections.abc import Mapping, Sequence

from schemas.extraction.candidates import Wish
from schemas.memories.events import MessageId
from schemas.memories.memories import Memory
from sinks.postgres.connection import Connection


class FakeRepeatedMessages:
    """(conversation, message) keys of repeats, by the text of a memory, and of messages that name a topic, by the topic."""

    def __init__(
        self,
        said: Mapping[str, Sequence[tuple[str, str]]],
        naming: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    ) -> None:
        self._said, self._naming = said, naming or {}

    async def of(self, connection: Connection, namespace: str, wish: Wish, memory: Memory) -> tuple[MessageId, ...]:
        return ids_of(self._said.get(memory.text, ()))

    async def naming_topic(self, connection: Connection, namespace: str, wish: Wish) -> tuple[MessageId, ...]:
        return ids_of(self._naming.get(wish.topic or "", ()))


def ids_of(keys: Sequence[tuple[str, str]]) -> tuple[MessageId, ...]:
    return tuple(MessageId(conversation_id=one, message_id=other) for one, other in keys)
