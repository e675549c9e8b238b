"""Reads memories by id, text or namespace, with their versions and vectors."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import asyncpg
from msgspec import Struct
from msgspec.structs import replace

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
    """One change of a memory: before, after, and its cause."""

    memory_id: str
    version: int
    namespace: str
    change: Change
    before: Memory | None
    after: Memory
    cause: Cause
    at: Moment


class MemoryRow(Struct, frozen=True):
    """A memory, and the id of the transaction that wrote its row."""

    memory: Memory
    written_by: int


class Memories:
    """Reads the `memories` tables. `reader` is the pool, or the connection of a transaction that must see its own writes."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def get(self, memory_id: str) -> Memory | None:
        """The memory, of any status; None if there is none."""
        return (await self.by_ids((memory_id,))).get(memory_id)

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        """Those of these memories that exist, of any status and namespace."""
        return {memory.memory_id: memory for memory in await self._fetch("by_ids", list(map(storable, memory_ids)))}

    async def rows_unless(self, known: Mapping[str, int]) -> tuple[dict[str, MemoryRow], frozenset[str]]:
        """Returns the rows, by id, whose version differs from the `known` one (0: unknown), and the ids of unchanged rows.
        Memories in neither do not exist."""
        with translated("reading memories"):
            rows = await self._reader.fetch(
                query("memories", "rows_unless"), list(map(storable, known)), list(known.values())
            )
        changed = {row["requested"]: row for row in rows if row["memory_id"] is not None}
        unchanged = frozenset(row["requested"] for row in rows if row["memory_id"] is None)
        return {name: MemoryRow(memory_from(row), row["written_by"]) for name, row in changed.items()}, unchanged

    async def live_by_text(self, namespace: str, normalised: Collection[str]) -> tuple[Memory, ...]:
        """Live memories with one of these normalised texts, oldest first."""
        return await self._fetch("live_by_text", storable(namespace), list(map(storable, normalised)))

    async def in_namespace(
        self, namespace: str, *, statuses: Sequence[Status] = LIVE, limit: int = 100, offset: int = 0
    ) -> tuple[Memory, ...]:
        """Memories of a namespace, the most important first."""
        return await self._fetch("in_namespace", namespace, list(statuses), limit, offset)

    async def list_page(self, listing: Listing) -> tuple[Memory, ...]:
        """A page of a namespace's memories, filtered and ordered. Deleted ones have the contents that an undo restores."""
        page = await self._fetch(f"listed_by_{COLUMNS[listing.order]}", *listing_arguments(listing))
        return await with_deleted_contents(self._reader, page)

    async def in_other_languages(self, namespace: str, language: str, limit: int) -> tuple[Memory, ...]:
        """Live memories of a namespace in a known language other than `language`, latest first."""
        return await self._fetch("in_other_languages", namespace, language.partition("-")[0].lower(), limit)

    async def expendable(self, namespace: str, limit: int) -> tuple[Memory, ...]:
        """Live unpinned memories of a namespace, least important first, then oldest first."""
        return await self._fetch("expendable", namespace, limit)

    async def expiring(self, at: datetime, limit: int) -> tuple[str, ...]:
        """Namespaces with expired live memories, longest overdue first."""
        with translated("finding expired memories"):
            return tuple(row["namespace"] for row in await self._reader.fetch(query("memories", "expiring"), at, limit))

    async def expired(self, namespace: str, at: datetime, limit: int) -> tuple[Memory, ...]:
        """Live memories of a namespace that are past their end."""
        return await self._fetch("expired", namespace, at, limit)

    async def before(self, namespace: str, memory_ids: Collection[str], limit: int = 100) -> tuple[Memory, ...]:
        """Ended memories that these memories superseded or absorbed, directly or through others."""
        return await self._fetch("before", storable(namespace), list(map(storable, memory_ids)), limit)

    async def absorbed_by(self, namespace: str, memory_id: str) -> tuple[Memory, ...]:
        """Memories that compaction merged into this one, directly or through others. They are deleted."""
        return await self._fetch("absorbed_by", namespace, memory_id)

    async def erased_from(self, memory_id: str) -> str | None:
        """The namespace from which the memory was erased; None if it was not erased alone. Raises Retryable."""
        with translated("reading erased memories"):
            namespace: str | None = await self._reader.fetchval(query("memories", "erased_from"), memory_id)
        return namespace

    async def from_conversation(self, namespace: str, conversation_id: str) -> int:
        """The number of live memories with a source in a conversation."""
        with translated("counting a conversation's memories"):
            return int(await self._reader.fetchval(query("memories", "from_conversation"), namespace, conversation_id))

    async def of_conversation(
        self, namespaces: Collection[str], conversation_id: str, limit: int = 20
    ) -> tuple[Memory, ...]:
        """Live memories of these namespaces with a source in a conversation, latest first."""
        return await self._fetch("of_conversation", list(map(storable, namespaces)), storable(conversation_id), limit)

    async def from_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], limit: int = 20
    ) -> dict[tuple[str, str], tuple[str, ...]]:
        """Ids of live memories by source (conversation, message); at most `limit` per message, by id."""
        if not messages:
            return {}
        columns = [[storable(value) for value in column] for column in zip(*messages, strict=True)]
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        with translated("finding memories of messages"):
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
        """Memories of a namespace, not deleted, that link to one of these: all, or the first `limit` by id."""
        return await self._fetch("linking", namespace, list(memory_ids), limit)

    async def any(self) -> bool:
        """Whether any memory exists that is not deleted."""
        with translated("checking for memories"):
            return bool(await self._reader.fetchval(query("memories", "any")))

    async def any_embedded_otherwise(self, model: str) -> bool:
        """Whether any memory has no vector of this model."""
        with translated("checking for vectors of another model"):
            return bool(await self._reader.fetchval(query("memories", "any_embedded_otherwise"), model))

    async def count_live(self, namespace: str) -> int:
        with translated("counting memories"):
            return int(await self._reader.fetchval(query("memories", "count_live"), namespace))

    async def versions(self, memory_id: str) -> tuple[MemoryVersion, ...]:
        """All versions of a memory, oldest first; texts of deleted memories exist only here."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("memories", "versions"), memory_id)
        return tuple(convert(dict(row), MemoryVersion) for row in rows)

    async def versions_after(self, memory_id: str, version: int, limit: int) -> tuple[MemoryVersion, ...]:
        """Versions above `version`, oldest first."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("memories", "versions_after"), memory_id, version, limit)
        return tuple(convert(dict(row), MemoryVersion) for row in rows)

    async def version(self, memory_id: str, version: int | None = None) -> MemoryVersion | None:
        """One version of a memory, the latest by default."""
        with translated("reading a version"):
            row = await self._reader.fetchrow(query("memories", "version"), memory_id, version)
        return None if row is None else convert(dict(row), MemoryVersion)

    async def points(self, memory_ids: Collection[str], embedding_model: str) -> list[Point]:
        """The points that the vector index should hold for these memories; deleted ones and those embedded by another model
        have none."""
        with translated("reading vectors"):
            rows = await self._reader.fetch(query("memories", "with_vectors"), list(memory_ids), embedding_model)
        return [Point.of(memory_from(row), from_bytes(row["vector"])) for row in rows]

    async def vectors(self, memory_ids: Collection[str], embedding_model: str) -> dict[str, Vector]:
        """Vectors of these memories by this model; others are missing."""
        with translated("reading vectors"):
            rows = await self._reader.fetch(query("memories", "vectors"), list(memory_ids), embedding_model)
        return {row["memory_id"]: from_bytes(row["vector"]) for row in rows}

    async def _fetch(self, name: str, *arguments: Any) -> tuple[Memory, ...]:
        with translated("reading memories"):
            return memories_from(await self._reader.fetch(query("memories", name), *arguments))


async def with_deleted_contents(reader: Reader, memories: tuple[Memory, ...]) -> tuple[Memory, ...]:
    """The memories, deleted ones with the contents that an undo restores. Raises Retryable."""
    if not (deleted := [memory.memory_id for memory in memories if memory.status == "deleted"]):
        return memories
    with translated("reading deleted memories"):
        rows = await reader.fetch(query("memories", "contents_before_deletion"), deleted)
    before = {memory.memory_id: memory for memory in (convert(row["before"], Memory) for row in rows)}
    return tuple(with_contents(memory, before.get(memory.memory_id)) for memory in memories)


def with_contents(memory: Memory, before: Memory | None) -> Memory:
    """A deleted memory with the contents from `before` its deletion, at its current place in every order."""
    if before is None:
        return memory
    kept = ("version", "sequence", "status", "importance", "created_at", "updated_at", "pinned", "expires_at", "links")
    return replace(before, **{name: getattr(memory, name) for name in kept})


def listing_arguments(listing: Listing) -> tuple[Any, ...]:
    """The parameters in the order of the statements. Arrays bypass the codec that removes NUL from text."""
    after = (listing.after.value, listing.after.memory_id) if listing.after else (None, None)
    return (
        *(
            listing.namespace,
            list(listing.statuses),
            list(map(storable, listing.kinds)),
            list(map(storable, listing.tags)),
        ),
        *(listing.least_importance, listing.most_importance, listing.created_from, listing.created_to),
        *(*after, listing.limit),
    )


def memories_from(rows: Iterable[asyncpg.Record]) -> tuple[Memory, ...]:
    return tuple(memory_from(row) for row in rows)


def memory_from(row: asyncpg.Record) -> Memory:
    known = dict(row)
    if known.get("told_by") is None:  # from an earlier version
        known.pop("told_by", None)
    return convert(known, Memory)
