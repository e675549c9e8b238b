"""Messages that passage search leaves out because users asked to have their contents forgotten. The archive keeps them."""

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from schemas.extraction.candidates import Source
from schemas.memories.events import Cause, MessageId
from sinks.memories.entry import LedgerEntry
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query

FORGETTING: Final = ("deleted", "expired")

Row: TypeAlias = tuple[str, str, str, str]  # conversation_id, message_id, hidden_by, wish_id


class HiddenMessages:
    """The `hidden_messages` table, within a deciding transaction. Each row has a reason to hide a message; the message is
    found again when no row is left."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def hide(self, namespace: str, wish_id: str, sources: Iterable[Source | MessageId]) -> None:
        """Hides the messages that a wish means and the message with the wish, also those without memories."""
        await self._hide(namespace, [(each.conversation_id, each.message_id, wish_id, wish_id) for each in sources])

    async def _hide(self, namespace: str, rows: Sequence[Row]) -> None:
        if rows:
            columns = [[storable(value) for value in column] for column in zip(*rows, strict=True)]
            await self._connection.execute(query("hidden_messages", "hide"), namespace, *columns)

    async def follow(self, namespace: str, entries: Sequence[LedgerEntry]) -> None:
        """Hides the sources of forgotten memories, and the messages that the causes name, and shows the sources of restored
        memories. Their versions must be stored already."""
        gone = {
            each.after.memory_id: (wish_id, each.cause)
            for each in entries
            if (wish_id := each.cause.wish_id) is not None and each.change in FORGETTING
        }
        if gone:
            wish_ids = [wish_id for wish_id, _ in gone.values()]
            await self._connection.execute(query("hidden_messages", "hide_sources"), list(gone), wish_ids)
            named = (row for memory_id, why in gone.items() for row in messages_named(memory_id, *why))
            await self._hide(namespace, list(dict.fromkeys(named)))
        if back := [each.after.memory_id for each in entries if is_back(each)]:
            await self._connection.execute(query("hidden_messages", "show_sources"), back)

    async def show(self, namespace: str, hidden_by: str) -> bool:
        """Removes the rows of this reason; True if there were any."""
        status = await self._connection.execute(query("hidden_messages", "show"), namespace, hidden_by)
        return not status.endswith(" 0")

    async def adopt(self, shadow: str, namespace: str, generation_id: str) -> None:
        """Copies the hidden messages of a shadow to its live namespace, with the generation as the reason."""
        await self._connection.execute(query("hidden_messages", "adopt"), shadow, namespace, generation_id)


def messages_named(memory_id: str, wish_id: str, cause: Cause) -> list[Row]:
    """The messages that the cause of a forgotten memory names: those that say it again, and the wish. Causes of earlier
    versions of memstream do not name the wish's message."""
    rows = [(said.conversation_id, said.message_id, memory_id, wish_id) for said in cause.said_again]
    if cause.conversation_id is not None and cause.message_id is not None:
        rows.append((cause.conversation_id, cause.message_id, wish_id, wish_id))
    return rows


def is_back(entry: LedgerEntry) -> bool:
    """Whether a change makes a memory live again."""
    return entry.before is not None and entry.before.status != "active" and entry.after.status == "active"
