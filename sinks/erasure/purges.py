"""Erases a namespace: sets the fence against older input, and deletes everything stored for it."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from schemas import codec
from schemas.conversations.messages import Scope
from schemas.erasure.erasures import Erasure, Fence
from schemas.kafka import topics
from schemas.kafka.records import Outgoing
from schemas.memories.events import CLOUD_EVENT, Cause, MemoryChanged, MemoryEvent
from schemas.memories.memories import Memory
from schemas.policies.namespaces import UNKNOWN
from schemas.policies.shadows import live_namespace_of
from sinks.memories import writer
from sinks.memories.reader import memories_from
from sinks.outbox.projector import put_records, put_vectors
from sinks.postgres.connection import Connection, storable, translated
from sinks.postgres.queries import query

PAGE: Final = 1_000  # memories per transaction
MESSAGES_PAGE: Final = 5_000  # archived messages; archiving waits meanwhile


class PurgeCounts(Struct, frozen=True):
    """Counts of a namespace's deleted rows."""

    memories: int
    versions: int
    vectors: int


class Purges:
    """Works within a transaction; methods that delete need one that holds the lock of the namespace."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.passages = 0  # a memory that `forget` deleted from a shared namespace

    async def fence(self, namespace: str, fence: Fence) -> None:
        """Sets the fence: from now on the namespace takes no older input."""
        with translated("fencing a namespace"):
            await self._connection.execute(query("purges", "fence"), namespace, fence.at, fence.positions)

    async def fences(self, namespaces: Collection[str]) -> dict[str, datetime]:
        """The fences of those of these namespaces that were erased.

        A shadow has the fence of its live namespace.
        """
        stored = {name: storable(live_namespace_of(name)) for name in namespaces}
        with translated("reading fences"):
            rows = await self._connection.fetch(query("purges", "fences"), list(stored.values()))
        fences = {row["namespace"]: row["purged_at"] for row in rows}
        return {name: fences[kept] for name, kept in stored.items() if kept in fences}

    async def page_of(self, namespace: str, erasure: Erasure) -> tuple[Memory, ...]:
        """A page of memories, of any status, whose sources all lie in conversations of the erasure."""
        with translated("reading memories to erase"):
            values = (namespace, PAGE, erasure.erasure_id, erasure.at)
            return memories_from(await self._connection.fetch(query("purges", "page_of_conversations"), *values))

    async def page(self, namespace: str) -> tuple[Memory, ...]:
        """A page of the namespace's memories, of any status."""
        with translated("reading memories to erase"):
            return memories_from(await self._connection.fetch(query("purges", "page"), namespace, PAGE))

    async def erase(self, namespace: str, gone: Sequence[Memory], cause: Cause, at: datetime) -> PurgeCounts:
        """Deletes memories with their versions and vectors. `gone` has their last sequences and no content."""
        memory_ids = [memory.memory_id for memory in gone]
        with translated("erasing memories"):
            vectors = await self._connection.fetchval(query("purges", "count_vectors"), memory_ids)
            versions = await self._connection.execute(query("purges", "drop_versions"), memory_ids)
            await self._connection.execute(query("purges", "drop_memories"), memory_ids)
            await self._connection.execute(query("purges", "drop_unused_kinds"), namespace)
            await self._connection.execute(query("memories", "advance"), namespace, gone[-1].sequence)
            await put_vectors(self._connection, namespace, memory_ids)
            await put_records(self._connection, namespace, [purged(memory, cause, at) for memory in gone])
            await put_records(self._connection, namespace, map(writer.state_record, gone))
        return PurgeCounts(len(gone), int(versions.rpartition(" ")[2]), vectors)

    async def forget(self, namespace: str, scopes: Iterable[Scope], fence: Fence) -> bool:
        """Deletes a portion of the cached answers, parked requests, passages, and archived messages of `scopes` before the
        fence, with the summaries of their conversations. True when no message is left."""
        with translated("erasing conversation data"):
            await self._connection.execute(query("purges", "lock_archive"))
            await self._connection.execute(query("purges", "empty_answers"), namespace)
            await self._connection.execute(query("purges", "drop_parked"), namespace)
            await self._connection.execute(query("purges", "drop_findings"), namespace)
            await self._connection.execute(query("purges", "drop_resolutions"), namespace)
            await self._connection.execute(query("purges", "drop_forgotten"), namespace)
            await self._connection.execute(query("erased_memories", "drop_namespace"), namespace, fence.at)
            await self._connection.execute(query("hidden_messages", "drop_namespace"), namespace)
            await self._connection.execute(query("purges", "drop_kinds"), namespace)
            values = (namespace, fence.at, fence.positions)
            status = await self._connection.execute(query("passages", "drop_namespace"), *values)
            self.passages += int(status.rpartition(" ")[2])
            return all([await self._forget_messages(scope, fence) for scope in scopes])

    async def _forget_messages(self, scope: Scope, fence: Fence) -> bool:
        values = (fence.at, *owner(scope), MESSAGES_PAGE, fence.positions)
        rows = await self._connection.fetch(query("purges", "drop_replies"), *values)
        if (
            len(rows) < MESSAGES_PAGE
        ):  # the user's messages stay until the replies are deleted, as they assign the replies to the user
            rows += await self._connection.fetch(query("purges", "drop_messages"), *values)
        conversations = sorted({row["conversation_id"] for row in rows})
        await self._connection.execute(query("purges", "empty_summaries"), conversations)
        await self._connection.execute(query("purges", "drop_parked_summaries"), conversations)
        await self._connection.execute(query("purges", "quieten_windows"), *owner(scope))
        return len(rows) < MESSAGES_PAGE


def owner(scope: Scope) -> tuple[str | None, ...]:
    """The fields in the order of the statement; None matches any value."""
    conversation_id = None if scope.conversation_id == UNKNOWN else scope.conversation_id
    return (scope.tenant_id, scope.app_id, scope.user_id, scope.agent_id, conversation_id, scope.mode)


def purged(memory: Memory, cause: Cause, at: datetime) -> Outgoing:
    """The memory event of a purge, without any content of the memory."""
    changed = MemoryChanged(
        change="purged", namespace=memory.namespace, sequence=memory.sequence, memory=memory, cause=cause
    )
    value = codec.encode(MemoryEvent.of(changed, at))
    return Outgoing(topic=topics.EVENTS, key=memory.namespace.encode(), value=value, headers=CLOUD_EVENT)
