"""Reads and replaces passages message by message, for `memstream reindex`."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from msgspec import Struct

from schemas.conversations.messages import Scope
from sinks.archive.messages import ArchivedMessage, archived_messages
from sinks.archive.participants import Participant, Participants
from sinks.passages.numbering import MessageKey
from sinks.passages.store import Piece, store_within, window_of
from sinks.passages.vectors import PassagePoint, PassageVectors
from sinks.postgres.connection import Pool, translated
from sinks.postgres.queries import query

BEGINNING: MessageKey = ("", "")


class IndexedPassage(Struct, frozen=True, kw_only=True):
    """A row of the passage index (see Piece). Old rows lack some fields."""

    passage_id: str
    namespace: str
    digest: int | None
    source_digest: int | None
    version: int | None
    clean_under: int | None


class IndexedMessage(NamedTuple):
    """A message with passages, and the fields of its conversation's window, if the window is projected."""

    archived: ArchivedMessage
    window: Scope | None


class PassageRenewal:
    """Reads and replaces passages. Every method raises Retryable."""

    def __init__(self, pool: Pool, vectors: PassageVectors) -> None:
        self._pool = pool
        self._vectors = vectors
        self._participants = Participants(pool)

    async def messages(self, after: MessageKey, limit: int) -> list[IndexedMessage]:
        """Messages with passages, behind a place, in the order of their keys."""
        with translated("reading the passage index"):
            rows = await self._pool.fetch(query("passages", "indexed_messages"), *after, limit)
        return [IndexedMessage(each, window_of(row)) for each, row in zip(archived_messages(rows), rows, strict=True)]

    async def participants(self, conversations: Collection[str]) -> list[Participant]:
        """The users of each conversation, as `Participants.of` returns them."""
        return await self._participants.of(conversations)

    async def indexed(self, keys: Sequence[MessageKey]) -> dict[MessageKey, list[IndexedPassage]]:
        key_columns = list(map(list, zip(*keys, strict=True)))
        with translated("reading the passage index"):
            rows = await self._pool.fetch(query("passages", "indexed"), *key_columns)
        passages: dict[MessageKey, list[IndexedPassage]] = {}
        for row in rows:
            columns = IndexedPassage.__struct_fields__
            each = IndexedPassage(**{name: row[name] for name in columns})
            passages.setdefault((row["conversation_id"], row["message_id"]), []).append(each)
        return passages

    async def write(self, points: Sequence[PassagePoint]) -> int:
        """Writes the points of passages that still have rows; returns their number."""
        with translated("writing points of passages"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("passages", "lock"))
                rows = await connection.fetch(query("passages", "existing"), [each.passage_id for each in points])
                there = {row["passage_id"] for row in rows}
                left = [each for each in points if each.passage_id in there]
                await self._vectors.write(left)
        return len(left)

    async def replace(self, key: MessageKey, partition: int, pieces: Sequence[Piece]) -> int:
        """Replaces the passages of a message; no pieces remove it from the index."""
        with translated("replacing passages"):
            async with self._pool.acquire() as connection, connection.transaction():
                return await store_within(connection, pieces, self._vectors, [partition], replacing=key)

    async def mark_current(self, pieces: Sequence[Piece]) -> None:
        """Stores version, digest and privacy mark of passages that need no rebuild."""
        if pieces:
            rows = [(each.passage_id, each.version, each.source_digest, each.clean_under) for each in pieces]
            with translated("marking passages as current"):
                await self._pool.execute(query("passages", "mark_current"), *map(list, zip(*rows, strict=True)))

    async def remove_unknown(self, page: int) -> int:
        """Deletes points without rows and returns their number. Nothing is stored while a page is compared."""
        removed = 0
        async for held in self._vectors.ids(page=page):
            passage_ids = [passage_id for _, passage_id in held]
            with translated("removing points of passages"):
                async with self._pool.acquire() as connection, connection.transaction():
                    await connection.execute(query("passages", "lock_alone"))
                    rows = await connection.fetch(query("passages", "existing"), passage_ids)
                    unknown = set(passage_ids) - {row["passage_id"] for row in rows}
                    await self._vectors.delete(unknown)
            removed += len(unknown)
        return removed
