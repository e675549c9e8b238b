"""The short-term tier: every message as it was said, kept for context, provenance and replay."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from schemas.codec import shaped
from schemas.messages import Message
from sinks.postgres import Connection, Pool, storable, translated
from sinks.purges import Purges
from sinks.queries import query


class ArchivedMessage(Struct, frozen=True, kw_only=True):
    """A message and where it lies in Kafka; `position` is its offset in the messages partition.

    `feeds` are the namespaces that may come to hold what it says; they are not stored.
    """

    message: Message
    partition: int
    position: int
    feeds: tuple[str, ...] = ()


class Archive:
    """The `messages` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def store(self, messages: Sequence[ArchivedMessage]) -> int:
        """Stores what is not there yet, in one statement, and returns how many that were.

        A message_id is stored once per conversation, the first time it is seen; repeating a batch changes nothing. What was
        said before a namespace was erased that it feeds is left out.
        """
        if not messages:
            return 0
        with translated("archiving messages"):
            async with self._pool.acquire() as connection, connection.transaction():
                await connection.execute(query("purges", "share_archive"))
                wanted = await unerased(connection, messages)
                columns = list(zip(*map(row, wanted), strict=True))
                status = await connection.execute(query("archive", "store"), *columns) if wanted else "INSERT 0 0"
        return int(status.rpartition(" ")[2])

    async def conversation(
        self, conversation_id: str, *, after: int = -1, limit: int = 1_000
    ) -> tuple[ArchivedMessage, ...]:
        """The messages behind position `after`, oldest first."""
        with translated("reading a conversation"):
            return found(await self._pool.fetch(query("archive", "conversation"), conversation_id, after, limit))

    async def latest(self, conversation_id: str, limit: int) -> tuple[ArchivedMessage, ...]:
        """The last messages of a conversation, oldest first."""
        with translated("reading a conversation"):
            return found(await self._pool.fetch(query("archive", "latest"), conversation_id, limit))


async def unerased(connection: Connection, messages: Sequence[ArchivedMessage]) -> list[ArchivedMessage]:
    fences = await Purges(connection).fences({namespace for each in messages for namespace in each.feeds})
    return [
        each for each in messages if not any(each.message.timestamp <= fences[n] for n in each.feeds if n in fences)
    ]


def row(archived: ArchivedMessage) -> tuple[Any, ...]:
    """The columns in the statement's order; the content has a column of its own and is left out of the body."""
    said = archived.message
    values = (
        *(said.conversation_id, said.message_id, archived.partition, archived.position),
        *(said.tenant_id, said.app_id, said.user_id, said.agent_id, said.mode),
        *(said.role, said.content, said.timestamp, msgspec.structs.replace(said, content="")),
    )
    return tuple(storable(value) if isinstance(value, str) else value for value in values)


def found(rows: Iterable[Any]) -> tuple[ArchivedMessage, ...]:
    return tuple(
        ArchivedMessage(
            message=shaped(row["body"] | {"content": row["content"]}, Message),
            partition=row["partition"],
            position=row["position"],
        )
        for row in rows
    )
