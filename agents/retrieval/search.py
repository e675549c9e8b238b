"""Memory search: combines vector search and full-text search. Parts that fail or time out are left out and reported."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from agents.privacy.scrub import sendable
from agents.retrieval.ranking import DEFAULT_RANKING, Candidate, Ranking, least_relevance, max_relevance, ranked
from agents.retrieval.scales import Scale, scale_of
from agents.retrieval.time_limits import TIMEOUT_S, TimeLimited
from schemas.memories.memories import Memory
from schemas.policies.policies import Privacy
from schemas.retrieval.searches import Degraded, Filters, Found, Hit, Query
from sinks.embeddings.port import Embedder
from sinks.memories.lexical import LexicalIndex, WordMatch
from sinks.vectors.port import Vector, VectorIndex

MIN_CANDIDATES = 50  # per method, before they are merged
MAX_QUESTION_CHARS = 2_000  # of a question that are embedded; the packaged model reads 256 tokens
MAX_SCANNED = 200  # memories compared while the vector index is unavailable


class MemorySource(Protocol):
    """Reads memories and their vectors: sinks.memories.reader.Memories."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...

    async def vectors(self, memory_ids: Collection[str], embedding_model: str) -> dict[str, Vector]: ...


class NearMemories(Struct, frozen=True, kw_only=True):
    """The question's vector, the cosines from the vector index by memory id, and the parts that failed."""

    vector: Vector | None = None
    cosines: dict[str, float] = {}
    degraded: tuple[Degraded, ...] = ()


class MemorySearch:
    """Searches memories of namespaces. Raises only Retryable, while PostgreSQL is unavailable."""

    def __init__(
        self,
        embedder: Embedder,
        vectors: VectorIndex,
        lexical: LexicalIndex,
        memories: MemorySource,
        *,
        clock: Callable[[], datetime],
        ranking: Ranking = DEFAULT_RANKING,
        scale: Scale | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._lexical = lexical
        self._memories = memories
        self._clock = clock
        self._ranking = ranking
        self._scale = scale or scale_of(embedder.model)
        self._embedding = TimeLimited("embedder_slow", "embedder_failed", timeout_s=timeout_s)
        self._indexed = TimeLimited("vectors_slow", "vectors_failed", timeout_s=timeout_s)

    async def search(self, query: Query) -> Found:
        """At most `limit` memories, best first. Without a text, those that pass the filters, most important first."""
        text = (query.text or "").strip()
        return await self._by_text(query, text) if text else await self._listed(query)

    async def _listed(self, query: Query) -> Found:
        memories = await self._lexical.listed(namespaces=query.namespaces, filters=query.filters, limit=query.limit)
        return Found(hits=tuple(Hit(score=memory.importance, memory=memory) for memory in memories))

    async def _by_text(self, query: Query, text: str) -> Found:
        limit = max(MIN_CANDIDATES, 2 * query.limit)
        near, matches = await asyncio.gather(
            self._near(text, query, limit),
            self._lexical.search(text, namespaces=query.namespaces, filters=query.filters, limit=limit),
        )
        candidates = await self._candidates(query, near, matches)
        hits = ranked(candidates, self._ranking, self._scale, floor=query.floor)[: query.limit]
        return Found(hits=tuple(hits if query.explain else map(unexplained, hits)), degraded=near.degraded)

    async def _candidates(self, query: Query, near: NearMemories, matches: Sequence[WordMatch]) -> list[Candidate]:
        """Reads only memories that can reach the least relevance: most results of an index are far away, and reading is
        expensive."""
        words = {match.memory_id: match.score for match in matches}
        cosines = near.cosines | await self._cosines(near.vector, words.keys() - near.cosines.keys())
        least = least_relevance(self._scale, query.floor)
        known = await self._memories.by_ids(
            [
                memory_id
                for memory_id in words.keys() | cosines.keys()
                if max_relevance(cosines.get(memory_id), words.get(memory_id, 0.0), self._ranking, self._scale) >= least
            ]
        )
        now = self._clock()
        return [
            Candidate(
                memory,
                cosines.get(memory_id) if self._scale.reads(memory.text) else None,
                words.get(memory_id, 0.0),
            )
            for memory_id, memory in known.items()
            if matches_query(memory, query.namespaces, query.filters, now)
        ]

    async def _cosines(self, question: Vector | None, memory_ids: Collection[str]) -> dict[str, float]:
        """Cosines of memories that the vector index did not return; PostgreSQL has their vectors."""
        if question is None or not memory_ids:
            return {}
        vectors = await self._memories.vectors(memory_ids, self._embedder.model)
        return {memory_id: float(question @ vector) for memory_id, vector in vectors.items()}

    async def _near(self, text: str, query: Query, limit: int) -> NearMemories:
        """The nearest memories; empty if the model does not know the question's script."""
        if not self._scale.reads(text):
            return NearMemories()
        embedded = await self._embedding.call(lambda: self._embedder.embed_questions([sendable_beginning(text)]))
        if embedded.value is None:
            return NearMemories(degraded=embedded.degraded)
        vector = embedded.value[0]
        found = await self._indexed.call(
            lambda: self._vectors.search(vector, namespaces=query.namespaces, filters=query.filters, limit=limit)
        )
        if found.value is None:
            return NearMemories(
                vector=vector, cosines=await self._scanned_cosines(vector, query), degraded=found.degraded
            )
        return NearMemories(vector=vector, cosines={each.memory_id: each.score for each in found.value})

    async def _scanned_cosines(self, vector: Vector, query: Query) -> dict[str, float]:
        """Cosines of the most important memories, in place of the vector index; in most namespaces these are all memories."""
        memories = await self._lexical.listed(namespaces=query.namespaces, filters=query.filters, limit=MAX_SCANNED)
        return await self._cosines(vector, [memory.memory_id for memory in memories])


def sendable_beginning(text: str) -> str:
    """The redacted beginning of the text. Redaction sees twice as much text, so that it finds a secret across the limit."""
    return sendable(text[: 2 * MAX_QUESTION_CHARS], Privacy())[:MAX_QUESTION_CHARS]


def matches_query(memory: Memory, namespaces: Collection[str], filters: Filters, now: datetime) -> bool:
    """Whether the current memory matches the query: an index may have an older state."""
    expired = memory.expires_at is not None and memory.expires_at <= (filters.valid_at or now)
    return memory.namespace in namespaces and not expired and filters.accepts(memory)


def unexplained(hit: Hit) -> Hit:
    return Hit(score=hit.score, memory=hit.memory)
