"""Messages that search in what was said leaves out, as users asked to have forgotten what they say. The archive keeps them."""

from collections.abc import Iterable, Sequence
from typing import Final

from schemas.extraction.candidates import Source
from sinks.memories.entry import LedgerEntry
from sinks.postgres.connection import Connection, storable
from sinks.postgres.queries import query

FORGETTING: Final = ("deleted", "expired")


class HiddenMessages:
    """The `hidden_messages` table, within a deciding transaction. Each row says what hides a message: it is found again once
    nothing hides it any more."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def hide(self, namespace: str, wish_id: str, said: Iterable[Source]) -> None:
        """Messages that a wish means, whatever is remembered of them, and the one that holds it."""
        rows = [(storable(each.conversation_id), storable(each.message_id), wish_id, wish_id) for each in said]
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            await self._connection.execute(query("hidden_messages", "hide"), namespace, *columns)

    async def follow(self, entries: Sequence[LedgerEntry]) -> None:
        """Hides what forgotten memories come from, and shows again what those come from that are brought back. Their versions are
        stored."""
        gone = {
            each.after.memory_id: each.cause.wish_id
            for each in entries
            if each.cause.wish_id is not None and each.change in FORGETTING
        }
        back = [each.after.memory_id for each in entries if is_back(each)]
        if gone:
            await self._connection.execute(query("hidden_messages", "hide_sources"), list(gone), list(gone.values()))
        if back:
            await self._connection.execute(query("hidden_messages", "show_sources"), back)

    async def show(self, namespace: str, hidden_by: str) -> bool:
        """Whether this hid anything; it no longer does."""
        status = await self._connection.execute(query("hidden_messages", "show"), namespace, hidden_by)
        return not status.endswith(" 0")

    async def adopt(self, shadow: str, namespace: str, generation_id: str) -> None:
        """What is hidden in a shadow is so in the namespace that it stands for, on account of its generation."""
        await self._connection.execute(query("hidden_messages", "adopt"), shadow, namespace, generation_id)


def is_back(entry: LedgerEntry) -> bool:
    """Whether a change makes a memory live again."""
    return entry.before is not None and entry.before.status != "active" and entry.after.status == "active"
