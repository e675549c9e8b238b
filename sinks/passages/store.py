"""The `passages` table: the passages stage writes it, search reads it."""

import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from schemas.conversations.messages import Scope
from schemas.passages.passages import ANY_PASSAGE, Passage, PassageFilters
from sinks.archive.messages import ArchivedMessage, without_erased
from sinks.archive.participants import Participant, Participants
from sinks.passages.matching import Matches, matches
from sinks.passages.numbering import MessageKey, message_key, number
from sinks.passages.rows import PassageRow, arguments, passage_rows, spaces
from sinks.passages.samples import SampleCache
from sinks.passages.vectors import PassagePoint, PassageVectors
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query
from sinks.vectors.port import Vector

NO_VECTOR: Vector = np.empty(0, np.float32)
SCOPE_COLUMNS: Final = ("tenant_id", "app_id", "user_id", "agent_id", "mode")


class Piece(Struct, frozen=True, kw_only=True):
    """A passage to be stored; its ordinal is assigned then. `speaker` is the id as it is, `names` the redacted id and name of
    the speaker. `digest` is that of the text, `source_digest` that of names and text. `version` is the version of chunking,
    `clean_under` the privacy setting under which the message's text and name need no redaction."""

    passage_id: str
    namespace: str
    archived: ArchivedMessage
    piece: int
    speaker: str
    names: tuple[str, str]
    digest: int
    source_digest: int
    version: int
    clean_under: int | None
    terms: tuple[int, ...]
    vector: Vector = NO_VECTOR


class PassageText(Struct, frozen=True, kw_only=True):
    """A passage with the whole archived content of its message: the reader cuts out the piece and redacts it. `namespaces`
    are all namespaces with passages of the message; under the privacy setting `clean_under` it needs no redaction.

    `scope` has the fields of the message, `window` those of its conversation: None until the conversation is projected.
    """

    passage: Passage
    scope: Scope
    namespaces: tuple[str, ...]
    partition: int = 0
    position: int = 0
    window: Scope | None = None
    digest: int | None = None
    clean_under: int | None = None


class Passages:
    """Reads and writes passages. Every method raises Retryable. `clock` is monotonic, in seconds."""

    def __init__(self, pool: Pool, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool = pool
        self._remembered = SampleCache(clock)
        self._participants = Participants(pool)

    async def known(self, messages: Collection[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
        """Those (namespace, conversation, message) keys that have passages."""
        columns = [[storable(value) for value in column] for column in zip(*messages, strict=True)] or [[], [], []]
        with translated("reading passages"):
            rows = await self._pool.fetch(query("passages", "known"), *columns)
        return {(row["namespace"], row["conversation_id"], row["message_id"]) for row in rows}

    async def store(self, pieces: Sequence[Piece], vectors: PassageVectors) -> int:
        """Writes rows and points, and returns the number of new ones. Repeating it changes nothing.

        One transaction checks the erasure fences behind the archive lock, so nothing erased comes in. Points are written
        before it commits, so each row has its point. After a crash in between, a point without a row is never found; it is
        rewritten with its row, or deleted if the message may not come in any more.
        """
        if not pieces:
            return 0
        partitions = [piece.archived.partition for piece in pieces]
        with translated("storing passages"):
            async with self._pool.acquire() as connection, connection.transaction():
                return await store_within(connection, pieces, vectors, partitions)

    async def matches(
        self,
        terms: Collection[int],
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        limit: int = 5_000,
    ) -> Matches:
        """Passages with any of the terms, and the messages right before and after. Of more than `limit` messages, those with
        the rarest terms, then the latest."""
        with translated("searching passages"):
            return await matches(self._pool, self._remembered, terms, namespaces, filters, limit)

    async def rows(
        self, passage_ids: Collection[str], namespaces: Collection[str], filters: PassageFilters = ANY_PASSAGE
    ) -> list[PassageRow]:
        """The existing rows of these ids, in any order: the vector index may name deleted ones."""
        if not passage_ids:
            return []
        with translated("searching passages"):
            rows = await self._pool.fetch(query("passages", "rows"), list(passage_ids), *arguments(namespaces, filters))
        return passage_rows(rows)

    async def any(self) -> bool:
        with translated("reading passages"):
            return bool(await self._pool.fetchval(query("passages", "any")))

    async def of_other_version(self, version: int) -> bool:
        """Whether any passage was built by another version of chunking."""
        with translated("reading passages"):
            return bool(await self._pool.fetchval(query("passages", "of_other_version"), version))

    async def texts(self, passage_ids: Collection[str], *, with_content: bool = True) -> dict[str, PassageText]:
        """Passages by id, each with the whole content of its message, or with none: what else decides who may read it."""
        if not passage_ids:
            return {}
        with translated("reading passages"):
            rows = await self._pool.fetch(query("passages", "with_texts"), list(passage_ids), with_content)
        return {row["passage_id"]: passage_text(row) for row in rows}

    async def participants(self, conversations: Collection[str]) -> list[Participant]:
        """The users of each conversation, as `Participants.of` returns them."""
        return await self._participants.of(conversations)

    async def of_messages(
        self, messages: Collection[tuple[str, str]], namespaces: Collection[str], *, limit: int = 20
    ) -> list[str]:
        """The ids of the passages of these (conversation, message) keys."""
        conversations, names = [storable(each) for each, _ in messages], [storable(each) for _, each in messages]
        with translated("reading passages"):
            rows = await self._pool.fetch(
                query("passages", "of_messages"), conversations, names, spaces(namespaces), limit
            )
        return [row["passage_id"] for row in rows]

    async def neighbours(
        self,
        places: Collection[tuple[str, int]],
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
    ) -> list[str]:
        """The ids of the last passages of the messages at these places (conversation, ordinal)."""
        conversations, ordinals = [storable(each) for each, _ in places], [ordinal for _, ordinal in places]
        with translated("reading passages"):
            rows = await self._pool.fetch(
                query("passages", "beside"), conversations, ordinals, *arguments(namespaces, filters)
            )
        return [row["passage_id"] for row in rows]

    async def drop_removed(self, vectors: PassageVectors, *, limit: int = 1_000) -> int:
        """Deletes the points of deleted rows from Qdrant, and returns their number. No point is written meanwhile."""
        with translated("removing points of passages"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("passages", "lock_alone"))
                rows = await connection.fetch(query("passages", "removals"), limit)
                await vectors.delete([row["passage_id"] for row in rows if not row["there"]])
                await connection.execute(query("passages", "removed"), [row["passage_id"] for row in rows])
        return len(rows)


async def store_within(
    connection: Connection,
    pieces: Sequence[Piece],
    vectors: PassageVectors,
    partitions: Collection[int],
    *,
    replacing: MessageKey | None = None,
) -> int:
    """`Passages.store` within a transaction. The earlier rows of a replaced message are deleted; its ordinal stays. A passage
    without a vector has no point."""
    await connection.execute(query("purges", "share_archive"))
    await connection.execute(query("passages", "lock"))
    await connection.execute(query("passages", "lock_partitions"), list(partitions))
    left = await unerased_pieces(connection, pieces)
    rows = [] if not left else await numbered_rows(connection, left)
    if replacing is not None:
        await connection.execute(query("passages", "drop_message"), *replacing)
    stored = await insert(connection, rows)
    await vectors.write([point(piece) for piece in left if piece.passage_id in stored and piece.vector.size])
    pointless = {piece.passage_id for piece in pieces if piece.passage_id in stored and not piece.vector.size}
    if others := [piece.passage_id for piece in pieces if piece.passage_id not in stored]:
        there = {row["passage_id"] for row in await connection.fetch(query("passages", "existing"), others)}
        pointless |= set(others) - there
    await vectors.delete(pointless)
    return len(stored)


async def unerased_pieces(connection: Connection, pieces: Sequence[Piece]) -> list[Piece]:
    messages = {id(piece.archived): piece.archived for piece in pieces}
    kept = {id(archived) for archived in await without_erased(connection, list(messages.values()))}
    return [piece for piece in pieces if id(piece.archived) in kept]


async def numbered_rows(connection: Connection, pieces: Sequence[Piece]) -> list[tuple[Any, ...]]:
    numbers = await number(connection, [piece.archived for piece in pieces])
    return [row_of(piece, numbers[message_key(piece.archived)]) for piece in pieces]


async def insert(connection: Connection, rows: Sequence[tuple[Any, ...]]) -> set[str]:
    if not rows:
        return set()
    stored = await connection.fetch(query("passages", "store"), *zip(*rows, strict=True))
    return {row["passage_id"] for row in stored}


def row_of(piece: Piece, ordinal: int) -> tuple[Any, ...]:
    message = piece.archived.message
    return (
        *(piece.passage_id, piece.namespace, storable(message.conversation_id), storable(message.message_id)),
        *(piece.piece, ordinal, message.timestamp, storable(piece.speaker), piece.digest),
        *(piece.version, piece.clean_under, piece.source_digest),
        " ".join(map(str, piece.terms)),
    )


def point(piece: Piece) -> PassagePoint:
    message = piece.archived.message
    return PassagePoint(
        passage_id=piece.passage_id,
        namespace=piece.namespace,
        conversation_id=storable(message.conversation_id),
        message_id=storable(message.message_id),
        speaker=storable(piece.speaker),
        said_at=message.timestamp,
        vector=piece.vector,
        user_id=message.user_id and storable(message.user_id),
        tenant_id=message.tenant_id and storable(message.tenant_id),
        app_id=message.app_id and storable(message.app_id),
    )


def passage_text(row: Any) -> PassageText:
    names = (
        "passage_id",
        "namespace",
        "conversation_id",
        "message_id",
        "piece",
        "ordinal",
        "said_at",
        "speaker",
        "name",
        "role",
    )
    return PassageText(
        passage=Passage(text=row["content"], **{name: row[name] for name in names}),
        scope=Scope(conversation_id=row["conversation_id"], **{name: row[name] for name in SCOPE_COLUMNS}),
        namespaces=tuple(row["namespaces"]),
        partition=row["partition"],
        position=row["position"],
        window=window_of(row),
        digest=row["digest"],
        clean_under=row["clean_under"],
    )


def window_of(row: Any) -> Scope | None:
    """The fields of the window that is joined to a row."""
    if not row["in_window"]:
        return None
    fields = {name: row[f"window_{name}"] for name in SCOPE_COLUMNS}
    return Scope(conversation_id=row["conversation_id"], **fields)
