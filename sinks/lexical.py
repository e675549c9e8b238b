"""The port of the search by words, and PostgreSQL's full text behind it."""

from collections.abc import Collection
from typing import Any, Protocol

from msgspec import Struct

from schemas.memories import Memory
from schemas.searches import Filters
from sinks.memories import Reader, all_found
from sinks.postgres import storable, translated
from sinks.queries import query


class WordMatch(Struct, frozen=True):
    """A memory that has words of what is asked; `score` is from 0 to 1."""

    memory_id: str
    score: float


class LexicalIndex(Protocol):
    """Reads what Postgres says now: nothing lags, and nothing stays behind. Raises Retryable."""

    async def search(self, text: str, *, namespaces: Collection[str], filters: Filters, limit: int) -> list[WordMatch]:
        """Memories with any word of the text that the filters accept, best first."""

    async def listed(self, *, namespaces: Collection[str], filters: Filters, limit: int) -> tuple[Memory, ...]:
        """Memories that the filters accept, the most important first, the latest first among equals."""


class FullText:
    """A LexicalIndex on the `memories` table."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def search(self, text: str, *, namespaces: Collection[str], filters: Filters, limit: int) -> list[WordMatch]:
        statement = filtered("matches")
        with translated("searching by words"):
            rows = await self._reader.fetch(statement, *arguments(namespaces, filters), storable(text), limit)
        return [WordMatch(row["memory_id"], row["score"]) for row in rows]

    async def listed(self, *, namespaces: Collection[str], filters: Filters, limit: int) -> tuple[Memory, ...]:
        with translated("listing memories"):
            return all_found(await self._reader.fetch(filtered("listed"), *arguments(namespaces, filters), limit))


def filtered(name: str) -> str:
    """The statement with the filters that all of them share."""
    return query("lexical", name).replace("{filters}", query("lexical", "filters"))


def arguments(namespaces: Collection[str], filters: Filters) -> tuple[Any, ...]:
    """The first parameters of every statement; what is not asked for is NULL."""
    return (
        *(some(namespaces), list(filters.statuses)),
        *(some(filters.kinds), some(filters.tags), some(filters.languages)),
        *(filters.min_confidence, filters.least_importance, filters.most_importance),
        *(filters.created_from, filters.created_to, filters.happened_from, filters.happened_to),
        *(filters.valid_at, filters.pinned),
    )


def some(values: Collection[str]) -> list[str] | None:
    return [storable(value) for value in values] or None
