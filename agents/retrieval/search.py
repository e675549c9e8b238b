"""Search: what is near in meaning and what has the same words, fused; slow or failing parts are done without."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from agents.privacy.scrub import sendable
from agents.retrieval.ranking import DEFAULT_RANKING, Candidate, Ranking, at_most, least_relevance, ranked
from agents.retrieval.scales import Scale, scale_of
from agents.retrieval.time_limits import WITHIN_S, Bounded
from schemas.memories.memories import Memory
from schemas.policies.policies import Privacy
from schemas.retrieval.searches import Degraded, Filters, Found, Hit, Query
from sinks.embeddings.port import Embedder
from sinks.memories.lexical import LexicalIndex, WordMatch
from sinks.vectors.port import Vector, VectorIndex

LEAST_CANDIDATES = 50  # of each way, before they are fused
ASKED_CHARS = 2_000  # of a text are embedded; the model that ships reads 256 tokens
LOOKED_THROUGH = 200  # memories, while the vector index cannot be asked


class Remembered(Protocol):
    """Where memories are read: sinks.memories.reader.Memories."""

    async def by_ids(self, memory_ids: Collection[str]) -> dict[str, Memory]: ...

    async def vectors(self, memory_ids: Collection[str], embedding_model: str) -> dict[str, Vector]: ...


class Near(Struct, frozen=True, kw_only=True):
    """Cosines that the vector index knows; the question's vector, for others; and why one of them is missing."""

    vector: Vector | None = None
    cosines: dict[str, float] = {}
    degraded: tuple[Degraded, ...] = ()


class Retrieval:
    """Searches the memories of namespaces. Raises Retryable when Postgres cannot answer now, and for nothing else."""

    def __init__(
        self,
        embedder: Embedder,
        vectors: VectorIndex,
        lexical: LexicalIndex,
        memories: Remembered,
        *,
        clock: Callable[[], datetime],
        ranking: Ranking = DEFAULT_RANKING,
        scale: Scale | None = None,
        within_s: float = WITHIN_S,
    ) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._lexical = lexical
        self._memories = memories
        self._clock = clock
        self._ranking = ranking
        self._scale = scale or scale_of(embedder.model)
        self._embedding = Bounded("embedder_slow", "embedder_failed", within_s=within_s)
        self._indexed = Bounded("vectors_slow", "vectors_failed", within_s=within_s)

    async def search(self, asked: Query) -> Found:
        """At most `limit` memories, the best first; without a text those that the filters accept, by importance."""
        text = (asked.text or "").strip()
        return await self._by_text(asked, text) if text else await self._listed(asked)

    async def _listed(self, asked: Query) -> Found:
        memories = await self._lexical.listed(namespaces=asked.namespaces, filters=asked.filters, limit=asked.limit)
        return Found(hits=tuple(Hit(score=memory.importance, memory=memory) for memory in memories))

    async def _by_text(self, asked: Query, text: str) -> Found:
        limit = max(LEAST_CANDIDATES, 2 * asked.limit)
        near, matches = await asyncio.gather(
            self._near(text, asked, limit),
            self._lexical.search(text, namespaces=asked.namespaces, filters=asked.filters, limit=limit),
        )
        candidates = await self._candidates(asked, near, matches)
        hits = ranked(candidates, self._ranking, self._scale, floor=asked.floor)[: asked.limit]
        return Found(hits=tuple(hits if asked.explain else map(unexplained, hits)), degraded=near.degraded)

    async def _candidates(self, asked: Query, near: Near, matches: Sequence[WordMatch]) -> list[Candidate]:
        """Read are those that can reach the floor: most of what an index names is far away, and a memory is dear to read."""
        words = {match.memory_id: match.score for match in matches}
        cosines = near.cosines | await self._cosines(near.vector, words.keys() - near.cosines.keys())
        least = least_relevance(self._scale, asked.floor)
        known = await self._memories.by_ids(
            [
                memory_id
                for memory_id in words.keys() | cosines.keys()
                if at_most(cosines.get(memory_id), words.get(memory_id, 0.0), self._ranking, self._scale) >= least
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
            if is_found(memory, asked.namespaces, asked.filters, now)
        ]

    async def _cosines(self, asked: Vector | None, memory_ids: Collection[str]) -> dict[str, float]:
        """Of what the vector index did not name, be it too far away or the index down: Postgres has the vectors too."""
        if asked is None or not memory_ids:
            return {}
        vectors = await self._memories.vectors(memory_ids, self._embedder.model)
        return {memory_id: float(asked @ vector) for memory_id, vector in vectors.items()}

    async def _near(self, text: str, asked: Query, limit: int) -> Near:
        """Who has no vectors searches by words."""
        if not self._scale.reads(text):
            return Near()
        embedded = await self._embedding.ask(lambda: self._embedder.embed_questions([sendable_beginning(text)]))
        if embedded.value is None:
            return Near(degraded=embedded.degraded)
        vector = embedded.value[0]
        found = await self._indexed.ask(
            lambda: self._vectors.search(vector, namespaces=asked.namespaces, filters=asked.filters, limit=limit)
        )
        if found.value is None:
            return Near(vector=vector, cosines=await self._looked_through(vector, asked), degraded=found.degraded)
        return Near(vector=vector, cosines={each.memory_id: each.score for each in found.value})

    async def _looked_through(self, vector: Vector, asked: Query) -> dict[str, float]:
        """The cosines of the most important memories, for want of an index; of most namespaces that is all of them."""
        memories = await self._lexical.listed(namespaces=asked.namespaces, filters=asked.filters, limit=LOOKED_THROUGH)
        return await self._cosines(vector, [memory.memory_id for memory in memories])


def sendable_beginning(text: str) -> str:
    """What the embedder may be sent; more is looked at, so that no secret is cut in half before it is found."""
    return sendable(text[: 2 * ASKED_CHARS], Privacy())[:ASKED_CHARS]


def is_found(memory: Memory, namespaces: Collection[str], filters: Filters, now: datetime) -> bool:
    """What an index holds may be older than the memory: the memory itself is held to the question."""
    expired = filters.valid_at is None and memory.expires_at is not None and memory.expires_at <= now
    return memory.namespace in namespaces and not expired and filters.accepts(memory)


def unexplained(hit: Hit) -> Hit:
    return Hit(score=hit.score, memory=hit.memory)
