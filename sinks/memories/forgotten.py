"""What users asked to have forgotten, for as long as candidates of what they said before may still come."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec

from schemas.codec import convert
from schemas.extraction.candidates import Wish
from sinks.postgres.connection import Connection, storable_json
from sinks.postgres.queries import query

KEPT: Final = timedelta(days=30)  # requests wait for hours to days, and Kafka keeps candidates for a week


class ForgottenWishes:
    """The `forgotten` table, within a deciding transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def since(self, namespace: str, moment: datetime) -> tuple[Wish, ...]:
        """Those of a namespace that were said at that moment or later, in their order."""
        rows = await self._connection.fetch(query("forgotten", "since"), namespace, moment)
        return tuple(convert(row["wish"], Wish) for row in rows)

    async def keep(self, namespace: str, wishes: Iterable[Wish], now: datetime) -> None:
        """A wish that says no time is kept from now on. Those of long ago go."""
        rows = [
            (
                wish.wish_id,
                namespace,
                wish.message.conversation_id,
                wish.message.timestamp or now,
                storable_json(msgspec.to_builtins(wish)),
            )
            for wish in wishes
        ]
        if rows:
            await self._connection.executemany(query("forgotten", "keep"), rows)
            await self._connection.execute(query("forgotten", "drop_old"), namespace, now - KEPT)
