"""Which namespaces hold memories."""

from collections.abc import Collection
from typing import Protocol

from msgspec import Struct

from schemas.access.keys import EVERYWHERE
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class NamespaceSummary(Struct, frozen=True, kw_only=True):
    """A namespace, and how many live memories it has."""

    namespace: str
    live: int


class NamespaceDirectory(Protocol):
    """Lists namespaces with memories."""

    async def page(
        self, patterns: Collection[str], *, containing: str, after: str, limit: int
    ) -> tuple[NamespaceSummary, ...]:
        """Those that a pattern covers, by name, from behind `after` on. Raises Retryable."""

    async def largest(self, patterns: Collection[str], *, containing: str, limit: int) -> tuple[NamespaceSummary, ...]:
        """Those that a pattern covers with live memories, the most first. Raises Retryable."""


class Namespaces:
    """The `namespaces` table."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def page(
        self, patterns: Collection[str], *, containing: str, after: str, limit: int
    ) -> tuple[NamespaceSummary, ...]:
        likes = [like(storable(pattern)) for pattern in patterns]
        with translated("listing namespaces"):
            found = await self._pool.fetch(
                query("namespaces", "page"), storable(after), likes, storable(containing), limit
            )
        return tuple(NamespaceSummary(namespace=row["namespace"], live=row["live"]) for row in found)

    async def largest(self, patterns: Collection[str], *, containing: str, limit: int) -> tuple[NamespaceSummary, ...]:
        likes = [like(storable(pattern)) for pattern in patterns]
        with translated("listing namespaces"):
            found = await self._pool.fetch(query("namespaces", "largest"), likes, storable(containing), limit)
        return tuple(NamespaceSummary(namespace=row["namespace"], live=row["live"]) for row in found)


def like(pattern: str) -> str:
    """A pattern of a key (`*` for any characters) as SQL has it."""
    escaped = pattern.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
    return escaped.replace(EVERYWHERE, "%")
