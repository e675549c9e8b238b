"""The participants of conversations, from the archive."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from msgspec import Struct

from schemas.codec import convert
from schemas.conversations.messages import Scope
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class Participant(Struct, frozen=True, kw_only=True):
    """A user of a conversation, with the place of their first message."""

    scope: Scope
    partition: int
    position: int
    said_at: datetime

    def spoke_before(self, partition: int, position: int, said_at: datetime) -> bool:
        """Whether the user's first message precedes a place: by position within a partition, by time across partitions."""
        if partition == self.partition:
            return self.position <= position
        return self.said_at <= said_at


class Participants:
    """Reads participants. Every method raises Retryable."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, conversations: Collection[str]) -> list[Participant]:
        """The users of each conversation. Users whose messages have left the archive are returned only where no other user
        is known."""
        if not conversations:
            return []
        with translated("reading participants of conversations"):
            rows = await self._pool.fetch(query("archive", "participants"), sorted(map(storable, conversations)))
        return [participant(row) for row in rows]


def participant(row: Any) -> Participant:
    fields = dict(row)
    place = {name: fields.pop(name) for name in ("partition", "position", "said_at")}
    return Participant(scope=convert(fields, Scope), **place)
