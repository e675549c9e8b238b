"""Wishes of users to have something forgotten, kept while candidates of earlier messages may still arrive."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from schemas.codec import convert
from schemas.extraction.candidates import Wish
from sinks.postgres.connection import Connection
from sinks.postgres.queries import query

WISHES_KEPT: Final = timedelta(days=30)  # requests may wait for days, and Kafka keeps candidates for a week


class ForgottenWishes:
    """The `forgotten` table, within a deciding transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def since(self, namespace: str, moment: datetime) -> tuple[Wish, ...]:
        """The wishes of a namespace that were made at that moment or later, in order."""
        rows = await self._connection.fetch(query("forgotten", "since"), namespace, moment)
        return tuple(convert(row["wish"], Wish) for row in rows)

    async def keep(self, namespace: str, wishes: Iterable[Wish], now: datetime) -> None:
        """Stores wishes; one without a time gets the current one."""
        rows = [
            (
                wish.wish_id,
                namespace,
                wish.message.conversation_id,
                wish.message.timestamp or now,
                msgspec.to_builtins(wish),
            )
            for wish in wishes
        ]
        if rows:
            await self._connection.executemany(query("forgotten", "keep"), rows)
