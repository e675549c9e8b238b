"""Lists the namespaces that hold memories."""

from collections.abc import Collection
from typing import Protocol

from msgspec import Struct

from schemas.access.keys import EVERYWHERE
from sinks.postgres.connection import Pool, storable, translated
from sinks.postgres.queries import query


class NamespaceSummary(Struct, frozen=True, kw_only=True):
    """A namespace and the number of its live memories."""

    namespace: str
    live: int


class NamespaceDirectory(Protocol):
    """Lists namespaces with memories."""

    async def page(
        self, patterns: Collection[str], *, containing: str, after: str, limit: int
    ) -> tuple[NamespaceSummary, ...]:
        """Namespaces that a pattern covers, by name, behind `after`. Raises Retryable."""

    async def largest(self, patterns: Collection[str], *, containing: str, limit: int) -> tuple[NamespaceSummary, ...]:
        """Namespaces that a pattern covers, those with the most live memories first. Raises Retryable."""


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
    """Converts a key's pattern (`*` for any characters) to a LIKE pattern."""
    escaped = pattern.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_")
    return escaped.replace(EVERYWHERE, "%")
