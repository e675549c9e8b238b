"""One search over both tiers: memories, and what was said."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from msgspec.structs import replace

from agents.retrieval.question_times import spans
from agents.retrieval.said import SaidFound, SaidSearch
from agents.retrieval.said_ranking import DEFAULT_WEIGHTS, CosineScale
from schemas.retrieval.searches import Found, Hit, Query, SaidHit, looks_at_memories
from sinks.passages.store import PassageFilters


class MemorySearch(Protocol):
    """agents.retrieval.search.Retrieval."""

    async def search(self, asked: Query) -> Found: ...


class Tiers:
    """Raises what the memory search raises."""

    def __init__(self, memories: MemorySearch, said: SaidSearch, clock: Callable[[], datetime]) -> None:
        self._memories = memories
        self._said = said
        self._clock = clock

    async def search(self, asked: Query) -> Found:
        """At most `limit` of both together."""
        searchable = bool((asked.text or "").strip()) and not looks_at_memories(asked.filters)
        if asked.tier == "memories" or (asked.tier == "both" and not searchable):
            found = await self._memories.search(asked)
            return replace(found, mixed=found.hits)
        if not searchable:
            return Found()
        if asked.tier == "said":
            said = await self._passages(asked)
            return Found(said=said.hits, mixed=said.hits, degraded=said.degraded)
        found, said = await asyncio.gather(self._memories.search(replace(asked, explain=True)), self._passages(asked))
        best = merged(found.hits, said.hits, self._said.scale)[: asked.limit]
        if not asked.explain:
            best = [replace(hit, parts=None) if isinstance(hit, Hit) else hit for hit in best]
        return Found(
            hits=tuple(hit for hit in best if isinstance(hit, Hit)),
            said=tuple(hit for hit in best if isinstance(hit, SaidHit)),
            mixed=tuple(best),
            degraded=tuple(dict.fromkeys((*found.degraded, *said.degraded))),
        )

    async def _passages(self, asked: Query) -> SaidFound:
        text, filters = (asked.text or "").strip(), asked.filters
        return await self._said.search(
            text,
            asked.namespaces,
            PassageFilters(said_from=filters.happened_from, said_to=filters.happened_to),
            spans=spans(text, asked.asked_at or self._clock()),
            limit=asked.limit,
        )


def merged(hits: Sequence[Hit], said: Sequence[SaidHit], scale: CosineScale) -> list[Hit | SaidHit]:
    """Each tier keeps its order; of the two that come next the one that fits the question better goes first."""
    memories, passages, order = list(hits), list(said), list[Hit | SaidHit]()
    while memories and passages:
        first = relevance(memories[0], scale) >= relevance(passages[0], scale)
        order.append(memories.pop(0) if first else passages.pop(0))
    return [*order, *memories, *passages]


def relevance(hit: Hit | SaidHit, scale: CosineScale) -> float:
    """Nearness and words on one scale for both tiers."""
    if isinstance(hit, Hit):
        cosine, words = (hit.parts.cosine, hit.parts.lexical or 0.0) if hit.parts else (None, hit.score)
    else:
        cosine, words = hit.cosine, min(1.0, hit.words / DEFAULT_WEIGHTS.words_full)
    near = 0.0 if cosine is None else (cosine - scale.start) / scale.span
    return DEFAULT_WEIGHTS.nearness * near + (1 - DEFAULT_WEIGHTS.nearness) * words
