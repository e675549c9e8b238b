"""Messages that passage search leaves out because users asked to have their contents forgotten. The archive keeps them."""

from collections.abc import Iterable, Sequence
from typing import Final

from schemas.extraction.candidates import Source
from schemas.memories.events import MessageId
from sinks.memories.entry import LedgerEntry
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query

FORGETTING: Final = ("deleted", "expired")


class HiddenMessages:
    """The `hidden_messages` table, within a deciding transaction. Each row has a reason to hide a message; the message is
    found again when no row is left."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def hide(self, namespace: str, wish_id: str, sources: Iterable[Source | MessageId]) -> None:
        """Hides the messages that a wish means and the message with the wish, also those without memories."""
        rows = [(storable(each.conversation_id), storable(each.message_id), wish_id, wish_id) for each in sources]
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            await self._connection.execute(query("hidden_messages", "hide"), namespace, *columns)

    async def follow(self, entries: Sequence[LedgerEntry]) -> None:
        """Hides the sources of forgotten memories, and shows the sources of restored ones. Their versions must be stored
        already."""
        gone = {
            each.after.memory_id: each.cause.wish_id
            for each in entries
            if each.cause.wish_id is not None and each.change in FORGETTING
        }
        again = [
            (each.after.namespace, said.conversation_id, said.message_id, each.after.memory_id, each.cause.wish_id)
            for each in entries
            for said in each.cause.said_again
            if each.after.memory_id in gone
        ]
        back = [each.after.memory_id for each in entries if is_back(each)]
        if gone:
            await self._connection.execute(query("hidden_messages", "hide_sources"), list(gone), list(gone.values()))
        for namespace in {each[0] for each in again}:
            columns = zip(*(each[1:] for each in again if each[0] == namespace), strict=True)
            await self._connection.execute(query("hidden_messages", "hide"), namespace, *map(list, columns))
        if back:
            await self._connection.execute(query("hidden_messages", "show_sources"), back)

    async def show(self, namespace: str, hidden_by: str) -> bool:
        """Removes the rows of this reason; True if there were any."""
        status = await self._connection.execute(query("hidden_messages", "show"), namespace, hidden_by)
        return not status.endswith(" 0")

    async def adopt(self, shadow: str, namespace: str, generation_id: str) -> None:
        """Copies the hidden messages of a shadow to its live namespace, with the generation as the reason."""
        await self._connection.execute(query("hidden_messages", "adopt"), shadow, namespace, generation_id)


def is_back(entry: LedgerEntry) -> bool:
    """Whether a change makes a memory live again."""
    return entry.before is not None and entry.before.status != "active" and entry.after.status == "active"
