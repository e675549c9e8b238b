"""Finds messages of a user by words, within a deciding transaction."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec import Struct

from schemas.extraction.candidates import Source
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query

MAX_PER_WORD: Final = 1_000  # passages per word
MAX_MESSAGES: Final = 200  # messages


class UserMessage(Struct, frozen=True, kw_only=True):
    """A message of a user, as archived."""

    conversation_id: str
    message_id: str
    content: str
    language: str | None = None


class UserMessages:
    """Messages in the passage index. Raises what the connection raises."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def with_words(
        self, namespace: str, terms: Collection[int], by: Source, until: datetime
    ) -> tuple[UserMessage, ...]:
        """At most MAX_MESSAGES messages of the user who sent `by`, said up to `until`; those with the most terms first."""
        user_id = None if by.user_id is None else storable(by.user_id)
        values = (
            storable(namespace),
            list(terms),
            user_id,
            storable(by.conversation_id),
            until,
            MAX_PER_WORD,
            MAX_MESSAGES,
        )
        rows = await self._connection.fetch(query("passages", "said_with"), *values)
        return tuple(UserMessage(**dict(row)) for row in rows)

    async def contents(self, sources: Collection[Source]) -> list[str]:
        """The contents of these messages of users, as far as the archive has them."""
        columns = [
            [storable(each.conversation_id) for each in sources],
            [storable(each.message_id) for each in sources],
        ]
        return [row["content"] for row in await self._connection.fetch(query("passages", "contents"), *columns)]
