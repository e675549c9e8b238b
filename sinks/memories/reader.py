"""Reading what is remembered: memories by id, text or namespace, their versions and vectors."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import asyncpg
from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Moment
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory, Status
from sinks.memories.listing import COLUMNS, Listing
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query
from sinks.vectors.port import Point, Vector, from_bytes

LIVE: tuple[Status, ...] = ("active",)

Reader: TypeAlias = Pool | Connection


class MemoryVersion(Struct, frozen=True, kw_only=True):
    """One change of a memory: what it was, what it became, who did it and on account of what."""

    memory_id: str
    version: int
    namespace: str
    change: Change
    before: Memory | None
    after: Memory
    cause: Cause
    at: Moment


class Memories:
    """The `memories` tables, read. `reader` is the pool, or the connection of a transaction that must see itself."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def get(self, memory_id: str) -> Memory | None:
        """The memory, of any status."""
        return (await self.by_ids((memory_id,))).get(memory_id)

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Those that exist, of any status and namespace."""
        return {memory.memory_id: memory for memory in await self._fetch("by_ids", list(map(storable, memory_ids)))}

    async def live_by_text(self, namespace: str, normalised: Collection[str]) -> tuple[Memory, ...]:
        """Live memories whose normalised text is one of these, oldest first."""
        return await self._fetch("live_by_text", namespace, list(normalised))

    async def in_namespace(
        self, namespace: str, *, statuses: Sequence[Status] = LIVE, limit: int = 100, offset: int = 0
    ) -> tuple[Memory, ...]:
        """Memories of a namespace, the most important first."""
        return await self._fetch("in_namespace", namespace, list(statuses), limit, offset)

    async def list_page(self, asked: Listing) -> tuple[Memory, ...]:
        """Memories of a namespace by filters, a page of them in their order."""
        return await self._fetch(f"listed_by_{COLUMNS[asked.order]}", *listing_arguments(asked))

    async def in_other_languages(self, namespace: str, language: str, limit: int) -> tuple[Memory, ...]:
        """Live memories of a namespace that are known to be in another language, the latest first."""
        return await self._fetch("in_other_languages", namespace, language.partition("-")[0], limit)

    async def expendable(self, namespace: str, limit: int) -> tuple[Memory, ...]:
        """Live memories of a namespace that are not pinned, the oldest of least importance first."""
        return await self._fetch("expendable", namespace, limit)

    async def expiring(self, at: datetime, limit: int) -> tuple[str, ...]:
        """Namespaces with live memories whose time is over, those that wait longest first."""
        with translated("looking for what expires"):
            return tuple(row["namespace"] for row in await self._reader.fetch(query("memories", "expiring"), at, limit))

    async def expired(self, namespace: str, at: datetime, limit: int) -> tuple[Memory, ...]:
        """Live memories whose time is over."""
        return await self._fetch("expired", namespace, at, limit)

    async def from_conversation(self, namespace: str, conversation_id: str) -> int:
        """How many live memories have a source in a conversation."""
        with translated("counting a conversation's memories"):
            return int(await self._reader.fetchval(query("memories", "from_conversation"), namespace, conversation_id))

    async def of_conversation(
        self, namespaces: Collection[str], conversation_id: str, limit: int = 20
    ) -> tuple[Memory, ...]:
        """Live memories of these namespaces that have a source in a conversation, the latest first."""
        return await self._fetch("of_conversation", list(map(storable, namespaces)), storable(conversation_id), limit)

    async def from_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], limit: int = 20
    ) -> dict[tuple[str, str], tuple[str, ...]]:
        """Ids of live memories by the (conversation, message) that they come from; of each message the first by id."""
        if not messages:
            return {}
        columns = [[storable(value) for value in column] for column in zip(*messages, strict=True)]
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        with translated("looking for memories of messages"):
            rows = await self._reader.fetch(
                query("memories", "from_messages"), *columns, list(map(storable, namespaces)), limit
            )
        for row in rows:
            message = (row["conversation_id"], row["message_id"])
            found[message] = (*found.get(message, ()), row["memory_id"])
        return found

    async def linking(
        self, namespace: str, memory_ids: Collection[str], limit: int | None = None
    ) -> tuple[Memory, ...]:
        """Memories of a namespace, of any status but deleted, with a link to one of these: all, or the first by id."""
        return await self._fetch("linking", namespace, list(memory_ids), limit)

    async def any(self) -> bool:
        """Whether there is one that is not deleted."""
        with translated("looking for memories"):
            return bool(await self._reader.fetchval(query("memories", "any")))

    async def any_embedded_otherwise(self, model: str) -> bool:
        """Whether there is one whose vector is missing, or was made by another model."""
        with translated("looking for vectors of another model"):
            return bool(await self._reader.fetchval(query("memories", "any_embedded_otherwise"), model))

    async def count_live(self, namespace: str) -> int:
        with translated("counting memories"):
            return int(await self._reader.fetchval(query("memories", "count_live"), namespace))

    async def versions(self, memory_id: str) -> tuple[MemoryVersion, ...]:
        """Every version of a memory, oldest first; texts of deleted memories are only here."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("memories", "versions"), memory_id)
        return tuple(convert(dict(row), MemoryVersion) for row in rows)

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        """Versions above one, oldest first."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("memories", "versions_after"), memory_id, version, limit)
        return tuple(convert(dict(row), MemoryVersion) for row in rows)

    async def version(self, memory_id: str, version: int | None = None) -> MemoryVersion | None:
        """One version of a memory, the latest by default."""
        with translated("reading a version"):
            row = await self._reader.fetchrow(query("memories", "version"), memory_id, version)
        return None if row is None else convert(dict(row), MemoryVersion)

    async def points(self, memory_ids: Collection[str], embedding_model: str) -> list[Point]:
        """What the vector index should hold of these memories: none for those deleted or embedded by another model."""
        with translated("reading vectors"):
            rows = await self._reader.fetch(query("memories", "with_vectors"), list(memory_ids), embedding_model)
        return [Point.of(memory_from(row), from_bytes(row["vector"])) for row in rows]

    async def vectors(self, memory_ids: Collection[str], embedding_model: str) -> dict[str, Vector]:
        """The vectors of these memories that the model made."""
        with translated("reading vectors"):
            rows = await self._reader.fetch(query("memories", "vectors"), list(memory_ids), embedding_model)
        return {row["memory_id"]: from_bytes(row["vector"]) for row in rows}

    async def _fetch(self, name: str, *arguments: Any) -> tuple[Memory, ...]:
        with translated("reading memories"):
            return memories_from(await self._reader.fetch(query("memories", name), *arguments))


def listing_arguments(asked: Listing) -> tuple[Any, ...]:
    """In the statements' order. Arrays bypass the codec that takes NUL out of text."""
    after = (asked.after.value, asked.after.memory_id) if asked.after else (None, None)
    return (
        *(asked.namespace, list(asked.statuses), list(map(storable, asked.kinds)), list(map(storable, asked.tags))),
        *(asked.least_importance, asked.most_importance, asked.created_from, asked.created_to),
        *(*after, asked.limit),
    )


def memories_from(rows: Iterable[asyncpg.Record]) -> tuple[Memory, ...]:
    return tuple(memory_from(row) for row in rows)


def memory_from(row: asyncpg.Record) -> Memory:
    known = dict(row)
    if known.get("told_by") is None:  # of an earlier version
        known.pop("told_by", None)
    return convert(known, Memory)
