"""All live memories of a namespace, and a marker that tells whether they changed."""

from collections.abc import Sequence

from msgspec import Struct

from schemas.conversations.messages import Moment
from schemas.memories.memories import Memory
from sinks.memories.reader import Reader, memories_from
from sinks.postgres.connection import storable, translated
from sinks.postgres.queries import query


class Head(Struct, frozen=True):
    """The state marker of a namespace: equal heads mean equal memories."""

    sequence: int
    purged_at: Moment | None = None


class LiveMemories:
    """`reader` is the pool, or the connection of a transaction that must see its own writes."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def heads(self, namespaces: Sequence[str]) -> dict[str, Head]:
        """The heads of those of these namespaces that exist. Raises Retryable."""
        with translated("reading heads of namespaces"):
            rows = await self._reader.fetch(query("live", "heads"), list(map(storable, namespaces)))
        return {row["namespace"]: Head(row["sequence"], row["purged_at"]) for row in rows}

    async def of(self, namespace: str) -> tuple[Memory, ...]:
        """The live memories of a namespace, oldest first. Raises Retryable."""
        with translated("reading live memories"):
            return memories_from(await self._reader.fetch(query("live", "of"), storable(namespace)))
