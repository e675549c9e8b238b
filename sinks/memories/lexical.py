"""Full-text search of memories: the port, and its implementation in PostgreSQL."""

from collections.abc import Collection
from typing import Any, Final, Protocol

from msgspec import Struct

from schemas.memories.memories import Memory
from schemas.retrieval.searches import Filters
from sinks.memories.reader import Reader, memories_from
from sinks.postgres.connection import storable, translated
from sinks.postgres.queries import query

MAX_COUNTED: Final = 500  # memories counted per word; a word in more of them does not discriminate
# The most rare words of a question that count. Of 2, 3, 4 and no limit, 4 was best on the tuning questions of
# `make bench-recall`: long questions kept their answers, and unrelated ones had no hits.
MAX_RARE_WORDS: Final = 4.0


class WordMatch(Struct, frozen=True):
    """A memory that shares words with the query; `score` is from 0 to 1."""

    memory_id: str
    score: float


class LexicalIndex(Protocol):
    """Full-text search that reads the current rows, so it never lags. Raises Retryable."""

    async def search(self, text: str, *, namespaces: Collection[str], filters: Filters, limit: int) -> list[WordMatch]:
        """Memories with any word of the text that pass the filters, best first."""

    async def listed(self, *, namespaces: Collection[str], filters: Filters, limit: int) -> tuple[Memory, ...]:
        """Memories that pass the filters, most important first, then latest first."""


class FullText:
    """A LexicalIndex on the `memories` table."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def search(self, text: str, *, namespaces: Collection[str], filters: Filters, limit: int) -> list[WordMatch]:
        statement = filtered(query("lexical", "matches"), filters)
        with translated("full-text search of memories"):
            rows = await self._reader.fetch(
                statement, *arguments(namespaces, filters), storable(text), limit, MAX_COUNTED, MAX_RARE_WORDS
            )
        return [WordMatch(row["memory_id"], row["score"]) for row in rows]

    async def listed(self, *, namespaces: Collection[str], filters: Filters, limit: int) -> tuple[Memory, ...]:
        with translated("listing memories"):
            return memories_from(
                await self._reader.fetch(
                    filtered(query("lexical", "listed"), filters), *arguments(namespaces, filters), limit
                )
            )


def filtered(statement: str, filters: Filters) -> str:
    """The statement with the filter conditions that all statements share."""
    live = query("lexical", "live") if filters.statuses == ("active",) else query("lexical", "of_statuses")
    return statement.replace("{filters}", query("lexical", "filters")).replace("{statuses}", live)


def arguments(namespaces: Collection[str], filters: Filters) -> tuple[Any, ...]:
    """The first parameters of every statement; unused filters are NULL."""
    return (
        *(array_or_null(namespaces), list(filters.statuses)),
        *(array_or_null(filters.kinds), array_or_null(filters.tags), array_or_null(filters.languages)),
        *(filters.min_confidence, filters.least_importance, filters.most_importance),
        *(filters.created_from, filters.created_to, filters.happened_from, filters.happened_to),
        *(filters.valid_at, filters.pinned),
    )


def array_or_null(values: Collection[str]) -> list[str] | None:
    return [storable(value) for value in values] or None
