"""The short-term tier: every message as it was sent, kept for context, provenance and replay."""

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

Place: TypeAlias = tuple[int, int]  # partition, position

LAST: Final = 2**31 - 1  # greater than every partition


class ArchivedMessage(Struct, frozen=True, kw_only=True):
    """A message with its Kafka partition and offset (`position`).

    `feeds` are the namespaces that its memories may go to, and `scopes` the people it belongs to; neither is stored.
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
        """Stores new messages in one statement and returns their number.

        A message_id is stored once per conversation, so repeating a batch changes nothing. Messages behind an erasure fence
        of a namespace that they feed, of their conversation or of their user are left out.
        """
        if not messages:
            return 0
        with translated("archiving messages"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "share_archive"))
                new_messages = await without_erased(connection, messages)
                columns = list(zip(*map(row, new_messages), strict=True))
                status = await connection.execute(query("archive", "store"), *columns) if new_messages else "INSERT 0 0"
        return int(status.rpartition(" ")[2])

    async def present(self, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
        """Those of the messages that the archive has. Raises Retryable."""
        if not messages:
            return []
        keys = [(storable(each.message.conversation_id), storable(each.message.message_id)) for each in messages]
        with translated("reading the archive"):
            rows = await self._pool.fetch(query("archive", "present"), *map(list, zip(*keys, strict=True)))
        known = {(row["conversation_id"], row["message_id"]) for row in rows}
        return [each for key, each in zip(keys, messages, strict=True) if key in known]

    async def conversation(
        self, conversation_id: str, *, after: int = -1, limit: int = 1_000
    ) -> tuple[ArchivedMessage, ...]:
        """Messages of a conversation behind position `after`, oldest first."""
        with translated("reading messages of a conversation"):
            return archived_messages(
                await self._pool.fetch(query("archive", "conversation"), conversation_id, after, limit)
            )

    async def extracted(self, keys: Collection[tuple[str, str]]) -> dict[tuple[str, str], Place]:
        """The archive positions of those of these messages, by (conversation, message_id), that are extracted. Raises
        Retryable."""
        conversations, messages = [storable(each) for each, _ in keys], [storable(each) for _, each in keys]
        with translated("checking which messages are extracted"):
            rows = await self._pool.fetch(query("archive", "extracted"), conversations, messages)
        return {(row["conversation_id"], row["message_id"]): (row["partition"], row["position"]) for row in rows}

    async def latest(self, conversation_id: str, limit: int) -> tuple[ArchivedMessage, ...]:
        """The last messages of a conversation, oldest first."""
        with translated("reading messages of a conversation"):
            return archived_messages(await self._pool.fetch(query("archive", "latest"), conversation_id, limit))

    async def scopes(self, conversation_id: str) -> tuple[Scope, ...]:
        """The distinct scopes of a conversation's messages (the fields that namespaces are derived from), in the order of
        their first message.

        Raises Retryable.
        """
        with translated("reading the scopes of a conversation"):
            rows = await self._pool.fetch(query("archive", "scopes"), conversation_id)
        return tuple(Scope(conversation_id=conversation_id, **row) for row in rows)

    async def scopes_of(self, conversations: Collection[str]) -> dict[str, tuple[Scope, ...]]:
        """The scopes of several conversations; conversations without archived messages are missing. Raises Retryable."""
        with translated("reading the scopes of conversations"):
            rows = await self._pool.fetch(query("archive", "scopes_of_several"), list(conversations))
        found: dict[str, tuple[Scope, ...]] = {}
        for scope in (Scope(**row) for row in rows):
            found[scope.conversation_id] = (*found.get(scope.conversation_id, ()), scope)
        return found

    async def names(self, conversations: Collection[str]) -> dict[str, list[tuple[str, bool]]]:
        """The names of speakers in messages of several conversations, each with whether a user id is given beside it;
        conversations without names are missing. Raises Retryable."""
        with translated("reading the names of speakers"):
            rows = await self._pool.fetch(query("archive", "names"), list(map(storable, conversations)))
        found: dict[str, list[tuple[str, bool]]] = {}
        for row in rows:
            found.setdefault(row["conversation_id"], []).append((row["name"], row["of_user"]))
        return found

    async def message(self, conversation_id: str, message_id: str) -> ArchivedMessage | None:
        """The message with this id; None if there is none. Raises Retryable."""
        with translated("reading a message"):
            rows = await self._pool.fetch(query("archive", "message"), storable(conversation_id), storable(message_id))
        return next(iter(archived_messages(rows)), None)

    async def page(
        self, conversation_id: str, *, beyond: Place | None, limit: int, backwards: bool = False
    ) -> tuple[ArchivedMessage, ...]:
        """A page of messages in the order of partition and position, forwards from a place or backwards before it. Raises
        Retryable."""
        start = beyond or ((LAST, LAST) if backwards else (-1, -1))
        with translated("reading messages of a conversation"):
            statement = query("archive", "page_back" if backwards else "page")
            return archived_messages(await self._pool.fetch(statement, conversation_id, *start, limit))

    async def unextracted(
        self, conversation_id: str, completed_before: datetime, *, limit: int = 200, max_bytes: int = 1_000_000
    ) -> tuple[Message, ...]:
        """Messages of users and assistants that are in no extraction completed before that moment, in order.

        Only the latest: at most `limit` messages, of which all but the oldest have less than `max_bytes` together. Raises
        Retryable.
        """
        with translated("reading unextracted messages"):
            statement = query("archive", "unextracted")
            rows = await self._pool.fetch(statement, conversation_id, completed_before, limit, max_bytes)
        return tuple(archived.message for archived in in_order(archived_messages(rows)))

    async def window(
        self, conversation_id: str, partition: int, opened: int, gaps: Sequence[Gap], *, limit: int = 1_000
    ) -> tuple[ArchivedMessage, ...]:
        """The messages of a window that began at position `opened`, in order: all messages outside of `gaps`, and the latest
        `limit` messages inside of them, of these only the beginning of the content. Raises Retryable."""
        firsts, lasts = [gap.first for gap in gaps], [gap.last for gap in gaps]
        with translated("reading a conversation's context"):
            statement = query("archive", "window")
            rows = await self._pool.fetch(statement, conversation_id, partition, opened, firsts, lasts, limit)
        return archived_messages(rows)

    async def erased(self, namespaces: Collection[str]) -> bool:
        """Whether one of these namespaces was ever erased. Raises Retryable."""
        with translated("reading fences"):
            async with self._pool.acquire() as connection:
                return bool(await Purges(connection).fences(namespaces))


def in_order(messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
    """Sorts messages by position within a partition, and by timestamp across partitions, whose positions do not compare."""
    if len({each.partition for each in messages}) <= 1:
        return sorted(messages, key=lambda each: each.position)
    return sorted(messages, key=lambda each: (each.message.timestamp, each.partition, each.position))


async def without_erased(connection: Connection, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
    message = [each.message for each in messages]
    known = await fences(
        connection,
        {namespace for each in messages for namespace in each.feeds},
        {each.conversation_id for each in message},
        {each.user_id for each in message if each.user_id is not None},
    )
    return [each for each in messages if not is_erased(each, known)]


def is_erased(archived: ArchivedMessage, known: Fences) -> bool:
    message = archived.message
    return any(
        fence.refuses(message.timestamp, archived.partition, archived.position)
        for fence in known.of(Scope.of(message), archived.feeds)
    )


def row(archived: ArchivedMessage) -> tuple[Any, ...]:
    """The column values in the order of the statement. The content has its own column and is left out of the JSON body."""
    message = archived.message
    values = (
        *(message.conversation_id, message.message_id, archived.partition, archived.position),
        *(message.tenant_id, message.app_id, message.user_id, message.agent_id, message.mode),
        *(message.role, message.content, message.timestamp, msgspec.structs.replace(message, content="")),
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
