"""The kinds of memories that a namespace has: described by commands, and used by memories."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from schemas.codec import convert
from schemas.memories.kinds import Kind
from sinks.postgres.connection import Connection, Pool, storable, translated
from sinks.postgres.queries import query

MOST: Final = 1_000


class UsedKind(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kind, and how many live memories of the namespace have it, as their first kind or a further one."""

    name: str
    description: str = ""
    icon: str = ""
    memories: int = 0


class KindDirectory(Protocol):
    """Lists the kinds of a namespace."""

    async def of(self, namespace: str) -> tuple[UsedKind, ...]:
        """By name. Raises Retryable."""


class Kinds:
    """The `kinds` table, and the kinds of memories."""

    def __init__(self, reader: Pool | Connection) -> None:
        self._reader = reader

    async def of(self, namespace: str) -> tuple[UsedKind, ...]:
        with translated("listing kinds"):
            rows = await self._reader.fetch(query("kinds", "of_namespace"), storable(namespace), MOST)
        return tuple(convert(dict(row), UsedKind) for row in rows)

    async def keep(self, namespace: str, kinds: Iterable[Kind], made_by: str, at: datetime) -> None:
        """What is said of a kind replaces what was said of it before."""
        rows = [
            (namespace, storable(each.name), storable(each.description), storable(each.icon), made_by, at)
            for each in kinds
        ]
        if rows:
            await self._reader.executemany(query("kinds", "keep"), rows)
