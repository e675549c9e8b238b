"""The port of the search by words, and PostgreSQL's full text behind it."""

from collections.abc import Collection
from typing import Any, Final, Protocol

from msgspec import Struct

from schemas.memories.memories import Memory
from schemas.retrieval.searches import Filters
from sinks.memories.reader import Reader, memories_from
from sinks.postgres.connection import storable, translated
from sinks.postgres.queries import query

COUNTED: Final = 500  # memories that have a word; more of them tell nothing apart
# Rare words that a question counts for at most. Of 2, 3, 4 and any number, over the questions of `make bench-recall` that are
# tuned on, 4 kept the long ones answered and the unrelated ones empty.
WORDS_OF_A_QUESTION: Final = 4.0


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
        statement = filtered(query("lexical", "matches"), filters)
        with translated("searching by words"):
            rows = await self._reader.fetch(
                statement, *arguments(namespaces, filters), storable(text), limit, COUNTED, WORDS_OF_A_QUESTION
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
    """The statement with the conditions that all of them share."""
    live = query("lexical", "live") if filters.statuses == ("active",) else query("lexical", "of_statuses")
    return statement.replace("{filters}", query("lexical", "filters")).replace("{statuses}", live)


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
