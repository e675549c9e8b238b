"""The kinds of memories that a namespace has: described by commands, and used by memories."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from schemas.codec import convert
from schemas.policies.kinds import Kind
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

MOST: Final = 1_000


class UsedKind(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kind, and the number of live memories that have it as their first or a further kind."""

    name: str
    description: str = ""
    icon: str = ""
    memories: int = 0


class KindDirectory(Protocol):
    """Lists the kinds of a namespace."""

    async def of(self, namespace: str) -> tuple[UsedKind, ...]:
        """The kinds of a namespace, sorted by name. Raises Retryable."""


class Kinds:
    """Reads and writes the `kinds` table, and reads the kinds of memories."""

    def __init__(self, reader: Pool | Connection) -> None:
        self._reader = reader

    async def of(self, namespace: str) -> tuple[UsedKind, ...]:
        with translated("listing kinds"):
            rows = await self._reader.fetch(query("kinds", "of_namespace"), storable(namespace), MOST)
        return tuple(convert(dict(row), UsedKind) for row in rows)

    async def keep(self, namespace: str, kinds: Iterable[Kind], made_by: str, at: datetime) -> None:
        """Stores descriptions of kinds; a new one replaces the old one."""
        rows = [
            (namespace, storable(each.name), storable(each.description), storable(each.icon), made_by, at)
            for each in kinds
        ]
        if rows:
            await self._reader.executemany(query("kinds", "keep"), rows)
