"""The shadow namespaces of a generation: the changes of its cutover in each, and their deletion."""

from collections.abc import Collection, Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from schemas.codec import convert
from schemas.extraction.candidates import Source
from schemas.memories.events import Cause
from schemas.memories.memories import Change, Memory
from sinks.memories.reader import Reader
from sinks.outbox.projector import put_vectors
from sinks.postgres.connection import Connection, translated
from sinks.postgres.queries import query

PAGE: Final = 1_000
Ranges: TypeAlias = Sequence[tuple[int, int]]  # first and last position of each range, in order
Changed: TypeAlias = tuple[
    str, Memory | None, int
]  # memory_id, the memory before the cutover, and the last version made by the cutover


class SwitchedNamespace(Struct, frozen=True, kw_only=True):
    """A namespace of a generation, and the sequences of its cutover's changes; None before the cutover."""

    namespace: str
    first_sequence: int | None = None
    last_sequence: int | None = None


class RemovedMemory(Struct, frozen=True, kw_only=True):
    """A memory that is not live any more: its last live state, the change and its cause, and the sources of its successor."""

    before: Memory
    change: Change
    cause: Cause
    successor_sources: tuple[Source, ...] | None = None


class Shadows:
    """The shadow namespaces of a generation; `reader` is the pool, or the connection of a transaction."""

    def __init__(self, reader: Reader, generation_id: str) -> None:
        self._reader = reader
        self._id = generation_id

    async def namespaces(self, beyond: str = "", limit: int = PAGE) -> tuple[SwitchedNamespace, ...]:
        """The live namespaces that the generation feeds, by name, behind `beyond`."""
        with translated("reading the namespaces of a generation"):
            rows = await self._reader.fetch(query("generations", "namespaces"), self._id, beyond, limit)
        return tuple(convert(dict(row), SwitchedNamespace) for row in rows)

    async def any_switched(self) -> bool:
        """Whether any namespace has the generation's memories now."""
        with translated("reading the namespaces of a generation"):
            return bool(await self._reader.fetchval(query("generations", "any_switched"), self._id))

    async def switched_in_part(self) -> bool:
        """Whether some of its namespaces are switched and others are not."""
        with translated("reading the namespaces of a generation"):
            return bool(await self._reader.fetchval(query("generations", "switched_in_part"), self._id))

    async def ranges(self, conversation_ids: Collection[str]) -> dict[str, Ranges]:
        """The replayed positions by conversation."""
        with translated("reading replayed positions"):
            rows = await self._reader.fetch(query("generations", "ranges"), self._id, list(conversation_ids))
        return {row["conversation_id"]: [(first, last) for first, last in row["ranges"]] for row in rows}

    async def by_hand(self, memory_ids: Collection[str]) -> set[str]:
        """Those of these memories that a command created or changed."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("generations", "by_hand"), list(memory_ids))
        return {row["memory_id"] for row in rows}

    async def removed(self, namespace: str, limit: int | None = None) -> tuple[RemovedMemory, ...]:
        """Memories of a namespace that are not live any more, at most `limit`."""
        with translated("reading versions"):
            rows = await self._reader.fetch(query("generations", "gone"), namespace, limit)
        return tuple(convert(dict(row), RemovedMemory) for row in rows)

    async def changed(self, switched: SwitchedNamespace) -> tuple[Changed, ...]:
        """The memories that the cutover changed in a namespace."""
        arguments = (switched.namespace, switched.first_sequence, switched.last_sequence)
        with translated("reading versions"):
            rows = await self._reader.fetch(query("generations", "changed_between"), *arguments)
        return tuple(
            (row["memory_id"], None if row["before"] is None else convert(row["before"], Memory), row["version"])
            for row in rows
        )


async def record_switch(connection: Connection, generation_id: str, switched: SwitchedNamespace) -> None:
    """Stores the changes of a cutover in a namespace; None after they are undone."""
    sequences = (switched.first_sequence, switched.last_sequence)
    await connection.execute(query("generations", "switched"), generation_id, switched.namespace, *sequences)


async def drop_shadow(connection: Connection, shadow: str) -> None:
    """Deletes a shadow's memories and the answers they came from, in a transaction that holds its lock."""
    await connection.execute(query("generations", "drop_versions"), shadow)
    rows = await connection.fetch(query("generations", "drop_memories"), shadow)
    await put_vectors(connection, shadow, [row["memory_id"] for row in rows])
    await connection.execute(query("purges", "drop_forgotten"), shadow)
    await connection.execute(query("hidden_messages", "drop_namespace"), shadow)
    await connection.execute(query("generations", "drop_answers"), [shadow])
    await connection.execute(query("generations", "drop_namespace"), shadow)


async def shadows_of(connection: Connection, namespace: str) -> tuple[str, ...]:
    """The shadow of a namespace in each generation, whether it has memories or not."""
    rows = await connection.fetch(query("generations", "shadows_of"), namespace)
    return tuple(row["namespace"] for row in rows)
