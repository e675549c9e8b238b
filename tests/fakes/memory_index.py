"""Memories in a dictionary, found by ids, words or filters."""

import re
from collections.abc import Collection

from schemas.memories.memories import Memory
from schemas.retrieval.searches import Filters, happened
from sinks.memories.lexical import WordMatch
from sinks.vectors.port import Vector

WORD = re.compile(r"\w+")


class FakeMemoryIndex:
    """A LexicalIndex and its memories; `read` are the requested ones. `failure` is raised by every call."""

    def __init__(self, *memories: Memory) -> None:
        self.known = {memory.memory_id: memory for memory in memories}
        self.embedded: dict[str, Vector] = {}
        self.failure: Exception | None = None
        self.read: set[str] = set()

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]:
        self._raise_failure()
        self.read |= set(memory_ids)
        return {memory_id: self.known[memory_id] for memory_id in memory_ids if memory_id in self.known}

    async def vectors(self, memory_ids: Collection[str], embedding_model: str) -> dict[str, Vector]:
        self._raise_failure()
        return {memory_id: self.embedded[memory_id] for memory_id in memory_ids if memory_id in self.embedded}

    async def search(self, text: str, *, namespaces: Collection[str], filters: Filters, limit: int) -> list[WordMatch]:
        self._raise_failure()
        query_words = words(text)
        shares = {memory.memory_id: share(query_words, memory) for memory in self._accepted(namespaces, filters)}
        matches = [WordMatch(memory_id, score) for memory_id, score in shares.items() if score]
        return sorted(matches, key=lambda match: (-match.score, match.memory_id))[:limit]

    async def listed(self, *, namespaces: Collection[str], filters: Filters, limit: int) -> tuple[Memory, ...]:
        self._raise_failure()
        accepted = self._accepted(namespaces, filters)
        return tuple(sorted(accepted, key=order_of)[:limit])

    def _accepted(self, namespaces: Collection[str], filters: Filters) -> list[Memory]:
        return [each for each in self.known.values() if each.namespace in namespaces and filters.accepts(each)]

    def _raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure


def words(text: str) -> set[str]:
    return {word.lower() for word in WORD.findall(text)}


def share(query_words: set[str], memory: Memory) -> float:
    return len(query_words & words(" ".join((memory.text, *memory.tags)))) / len(query_words) if query_words else 0.0


def order_of(memory: Memory) -> tuple[float, float, str]:
    latest = memory.last_reinforced_at or happened(memory)
    return -memory.importance, -latest.timestamp(), memory.memory_id
