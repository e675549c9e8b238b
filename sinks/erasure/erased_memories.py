"""Memories that were erased alone. Only their ids and those of their source messages are kept, so that no memory is made of these
messages again."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from schemas.codec import convert
from schemas.extraction.candidates import Source
from schemas.memories.events import MessageId
from schemas.memories.memories import Memory
from schemas.policies.shadows import live_namespace_of
from sinks.memories.reader import Reader, memories_from
from sinks.postgres.connection import storable, translated
from sinks.postgres.queries import query

Messages = frozenset[tuple[str, str]]  # conversation_id, message_id


class ErasedMemories:
    """The `erased_memories` table. Methods that write need a transaction that holds the lock of the namespace. Every method
    raises Retryable."""

    def __init__(self, connection: Reader) -> None:
        self._connection = connection

    async def record(self, namespace: str, memory_ids: Sequence[str], at: datetime) -> Messages:
        """Records memories as erased, while their versions exist. Returns the messages that they came from."""
        with translated("recording erased memories"):
            rows = await self._connection.fetch(query("erased_memories", "record"), namespace, list(memory_ids), at)
        return messages_from(each for row in rows for each in convert(row["messages"], tuple[MessageId, ...]))

    async def held(self, memory_id: str) -> dict[str, int]:
        """The numbers of a memory's versions, vectors and source messages."""
        with translated("counting what a memory holds"):
            row = await self._connection.fetchrow(query("erased_memories", "held"), memory_id)
        return dict(row or {})

    async def restore(self, namespace: str, memory_id: str, messages: Sequence[MessageId], at: datetime) -> None:
        """Records an erased memory of which only its event is left."""
        with translated("recording erased memories"):
            await self._connection.execute(query("erased_memories", "restore"), memory_id, namespace, messages, at)

    async def hide(self, memory_id: str) -> None:
        """Hides the messages of an erased memory from search, in all namespaces."""
        with translated("hiding messages"):
            await self._connection.execute(query("erased_memories", "hide"), memory_id)

    async def count_hidden(self, messages: Messages) -> int:
        """How many of these messages searches leave out."""
        with translated("counting hidden messages"):
            return int(await self._connection.fetchval(query("erased_memories", "count_hidden"), *columns_of(messages)))

    async def drop_copies(self, namespace: str, memory_ids: Sequence[str], messages: Messages) -> None:
        """Deletes the words of memories outside of their rows: in stored answers of models, verdicts, and findings of dry
        runs. `messages` are those that the memories came from."""
        conversation_ids, message_ids = columns_of(messages)
        with translated("erasing copies of memories"):
            found = (namespace, conversation_ids, message_ids, list(memory_ids))
            await self._connection.execute(query("erased_memories", "drop_findings"), *found)
            await self._connection.execute(query("erased_memories", "drop_resolutions"), namespace, conversation_ids)
        await self.drop_proposals(messages)

    async def drop_proposals(self, messages: Messages, request_id: str | None = None) -> None:
        """Deletes what models proposed from these messages from all stored answers, or from the answer to one request."""
        request = None if request_id is None else storable(request_id)
        with translated("erasing copies of memories"):
            values = (request, *columns_of(messages))
            await self._connection.execute(query("erased_memories", "drop_proposals"), *values)

    async def among(self, namespace: str, sources: Collection[Source]) -> Messages:
        """Those of these messages from which a memory of the namespace was erased. A shadow has those of its live
        namespace."""
        if not sources:
            return frozenset()
        ids = {(each.conversation_id, each.message_id) for each in sources}
        columns = [list(map(storable, column)) for column in zip(*ids, strict=True)]
        with translated("reading erased memories"):
            live = live_namespace_of(namespace)
            rows = await self._connection.fetch(query("erased_memories", "among"), live, *columns)
        return frozenset((row["conversation_id"], row["message_id"]) for row in rows)

    async def messages(self, namespace: str) -> Messages:
        """All messages from which a memory of the namespace was erased."""
        with translated("reading erased memories"):
            rows = await self._connection.fetch(query("erased_memories", "of_namespace"), namespace)
        return frozenset((row["conversation_id"], row["message_id"]) for row in rows)

    async def messages_of(self, namespace: str, memory_id: str) -> Messages:
        """The messages of an erased memory, and of those that were erased with it; empty for any other memory."""
        with translated("reading erased memories"):
            rows = await self._connection.fetch(query("erased_memories", "of_erasure"), namespace, storable(memory_id))
        return frozenset((row["conversation_id"], row["message_id"]) for row in rows)

    async def replayed(self, shadow: str, messages: Messages) -> tuple[Memory, ...]:
        """Memories of a shadow, of any status, that come from one of these messages."""
        with translated("reading memories to erase"):
            rows = await self._connection.fetch(query("erased_memories", "replayed"), shadow, *columns_of(messages))
        return memories_from(rows)


def messages_from(messages: Iterable[MessageId]) -> Messages:
    return frozenset((each.conversation_id, each.message_id) for each in messages)


def columns_of(messages: Messages) -> tuple[list[str], list[str]]:
    """The ids of the conversations and of the messages."""
    pairs = sorted(messages)
    return [conversation_id for conversation_id, _ in pairs], [message_id for _, message_id in pairs]


def is_among(sources: Collection[Source], messages: Messages) -> bool:
    """Whether one of the sources is among these messages."""
    return any((storable(each.conversation_id), storable(each.message_id)) in messages for each in sources)
