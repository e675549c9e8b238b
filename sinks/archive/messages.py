"""The short-term tier: every message as it was said, kept for context, provenance and replay."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Message, Scope
from schemas.conversations.windows import Gap
from schemas.erasure.erasures import Fences
from sinks.erasure.fences import fences
from sinks.erasure.purges import Purges
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

Place: TypeAlias = tuple[int, int]  # a partition, and a position in it

LAST: Final = 2**31 - 1  # above every partition there is


class ArchivedMessage(Struct, frozen=True, kw_only=True):
    """A message and where it lies in Kafka; `position` is its offset in the messages partition.

    `feeds` are the namespaces that may come to hold what it says, `scopes` are whose it is; they are not stored.
    """

    message: Message
    partition: int
    position: int
    feeds: tuple[str, ...] = ()
    scopes: tuple[Scope, ...] = ()


class Archive:
    """The `messages` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def store(self, messages: Sequence[ArchivedMessage]) -> int:
        """Stores what is not there yet, in one statement, and returns how many that were.

        A message_id is stored once per conversation, the first time it is seen; repeating a batch changes nothing. What was
        said before a namespace that it feeds, its conversation or its user was erased is left out.
        """
        if not messages:
            return 0
        with translated("archiving messages"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "share_archive"))
                wanted = await without_erased(connection, messages)
                columns = list(zip(*map(row, wanted), strict=True))
                status = await connection.execute(query("archive", "store"), *columns) if wanted else "INSERT 0 0"
        return int(status.rpartition(" ")[2])

    async def conversation(
        self, conversation_id: str, *, after: int = -1, limit: int = 1_000
    ) -> tuple[ArchivedMessage, ...]:
        """The messages behind position `after`, oldest first."""
        with translated("reading a conversation"):
            return archived_messages(
                await self._pool.fetch(query("archive", "conversation"), conversation_id, after, limit)
            )

    async def extracted(self, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], Place]:
        """Where those of these messages, by conversation and id, were archived that were extracted. Raises Retryable."""
        conversations, messages = [storable(each) for each, _ in keys], [storable(each) for _, each in keys]
        with translated("asking which messages were extracted"):
            rows = await self._pool.fetch(query("archive", "extracted"), conversations, messages)
        return {(row["conversation_id"], row["message_id"]): (row["partition"], row["position"]) for row in rows}

    async def latest(self, conversation_id: str, limit: int) -> tuple[ArchivedMessage, ...]:
        """The last messages of a conversation, oldest first."""
        with translated("reading a conversation"):
            return archived_messages(await self._pool.fetch(query("archive", "latest"), conversation_id, limit))

    async def scopes(self, conversation_id: str) -> tuple[Scope, ...]:
        """The fields of all its messages that namespaces are derived from, each combination once, the first one first.

        Raises Retryable.
        """
        with translated("asking whose a conversation is"):
            rows = await self._pool.fetch(query("archive", "scopes"), conversation_id)
        return tuple(Scope(conversation_id=conversation_id, **row) for row in rows)

    async def message(self, conversation_id: str, message_id: str) -> ArchivedMessage | None:
        """The message of that id. Raises Retryable."""
        with translated("reading a message"):
            rows = await self._pool.fetch(query("archive", "message"), storable(conversation_id), storable(message_id))
        return next(iter(archived_messages(rows)), None)

    async def page(
        self, conversation_id: str, *, beyond: Place | None, limit: int, backwards: bool = False
    ) -> tuple[ArchivedMessage, ...]:
        """Messages by partition and position, from behind a place on, or from before it backwards. Raises Retryable."""
        start = beyond or ((LAST, LAST) if backwards else (-1, -1))
        with translated("reading a conversation"):
            statement = query("archive", "page_back" if backwards else "page")
            return archived_messages(await self._pool.fetch(statement, conversation_id, *start, limit))

    async def unextracted(
        self, conversation_id: str, completed_before: datetime, *, limit: int = 200, most_bytes: int = 1_000_000
    ) -> tuple[Message, ...]:
        """What users and assistants said and no extraction has taken in that was completed before that moment, in order.

        The latest only: at most `limit` messages, of which all but the oldest have less than `most_bytes` together. Raises
        Retryable.
        """
        with translated("reading what was just said"):
            statement = query("archive", "unextracted")
            rows = await self._pool.fetch(statement, conversation_id, completed_before, limit, most_bytes)
        return tuple(archived.message for archived in in_order(archived_messages(rows)))

    async def window(
        self, conversation_id: str, partition: int, opened: int, gaps: Sequence[Gap], *, limit: int = 1_000
    ) -> tuple[ArchivedMessage, ...]:
        """The messages of a window that began at position `opened`, in order: all that no gap holds, and the latest `limit` of
        the others too, of which only the beginning of their content. Raises Retryable.
        """
        firsts, lasts = [gap.first for gap in gaps], [gap.last for gap in gaps]
        with translated("reading a conversation's context"):
            statement = query("archive", "window")
            rows = await self._pool.fetch(statement, conversation_id, partition, opened, firsts, lasts, limit)
        return archived_messages(rows)

    async def erased(self, namespaces: Collection[str]) -> bool:
        """Whether one of these namespaces was ever erased. Raises Retryable."""
        with translated("asking for fences"):
            async with self._pool.acquire() as connection:
                return bool(await Purges(connection).fences(namespaces))


def in_order(messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
    """As they were said: by position, which means nothing across partitions, where their own times have to do."""
    if len({each.partition for each in messages}) <= 1:
        return sorted(messages, key=lambda each: each.position)
    return sorted(messages, key=lambda each: (each.message.timestamp, each.partition, each.position))


async def without_erased(connection: Connection, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
    said = [each.message for each in messages]
    known = await fences(
        connection,
        {namespace for each in messages for namespace in each.feeds},
        {each.conversation_id for each in said},
        {each.user_id for each in said if each.user_id is not None},
    )
    return [each for each in messages if not is_erased(each, known)]


def is_erased(archived: ArchivedMessage, known: Fences) -> bool:
    said = archived.message
    return any(
        fence.refuses(said.timestamp, archived.partition, archived.position)
        for fence in known.of(Scope.of(said), archived.feeds)
    )


def row(archived: ArchivedMessage) -> tuple[Any, ...]:
    """The columns in the statement's order; the content has a column of its own and is left out of the body."""
    said = archived.message
    values = (
        *(said.conversation_id, said.message_id, archived.partition, archived.position),
        *(said.tenant_id, said.app_id, said.user_id, said.agent_id, said.mode),
        *(said.role, said.content, said.timestamp, msgspec.structs.replace(said, content="")),
    )
    return tuple(storable(value) if isinstance(value, str) else value for value in values)


def archived_messages(rows: Iterable[Any]) -> tuple[ArchivedMessage, ...]:
    return tuple(
        ArchivedMessage(
            message=convert(row["body"] | {"content": row["content"]}, Message),
            partition=row["partition"],
            position=row["position"],
        )
        for row in rows
    )
