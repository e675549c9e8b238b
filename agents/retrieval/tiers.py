"""One search over both tiers: memories, and what was said."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from msgspec.structs import replace

from agents.retrieval.question_times import spans
from agents.retrieval.said import SaidFound
from agents.retrieval.said_ranking import DEFAULT_WEIGHTS, CosineScale, Span
from schemas.passages.passages import ANY_PASSAGE, PassageFilters
from schemas.retrieval.searches import Degraded, Found, Hit, Query, SaidHit

Source: TypeAlias = tuple[str, str]  # a conversation and a message of it


class MemorySearch(Protocol):
    """agents.retrieval.search.Retrieval."""

    async def search(self, asked: Query) -> Found: ...


class PassageSearch(Protocol):
    """agents.retrieval.said.SaidSearch."""

    @property
    def scale(self) -> CosineScale: ...

    async def search(
        self,
        text: str,
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        spans: Sequence[Span] = (),
        limit: int = 10,
    ) -> SaidFound: ...


class Tiers:
    """Raises what the memory search raises."""

    def __init__(
        self, memories: MemorySearch, said: PassageSearch, clock: Callable[[], datetime], memory_scale: CosineScale
    ) -> None:
        self._memories = memories
        self._said = said
        self._clock = clock
        self._memory_scale = memory_scale

    async def search(self, asked: Query) -> Found:
        """At most `limit` of both together."""
        if not asked.asks_passages:
            found = await self._memories.search(asked)
            return replace(found, mixed=found.hits)
        if not asked.asks_memories:
            said = await self._passages(asked)
            return Found(said=said.hits, mixed=said.hits, degraded=said.degraded)
        found, said = await asyncio.gather(self._memories.search(replace(asked, explain=True)), self._passages(asked))
        best = merged(found.hits, said.hits, self._memory_scale, self._said.scale)[: asked.limit]
        if not asked.explain:
            best = [replace(hit, parts=None) if isinstance(hit, Hit) else hit for hit in best]
        return ordered(best, (*found.degraded, *said.degraded))

    async def _passages(self, asked: Query) -> SaidFound:
        return await self._said.search(
            asked.words,
            asked.namespaces,
            passage_filters(asked),
            spans=spans(asked.words, asked.asked_at or self._clock()),
            limit=asked.limit,
        )


def passage_filters(asked: Query) -> PassageFilters:
    """Those of the question; without times of their own, the times when something happened."""
    own, filters = asked.passage_filters, asked.filters
    return replace(own, said_from=own.said_from or filters.happened_from, said_to=own.said_to or filters.happened_to)


def ordered(best: Sequence[Hit | SaidHit], degraded: Iterable[Degraded]) -> Found:
    """The hits, in their order, as an answer."""
    return Found(
        hits=tuple(hit for hit in best if isinstance(hit, Hit)),
        said=tuple(hit for hit in best if isinstance(hit, SaidHit)),
        mixed=tuple(best),
        degraded=tuple(dict.fromkeys(degraded)),
    )


def merged(
    hits: Sequence[Hit], said: Sequence[SaidHit], memory_scale: CosineScale, said_scale: CosineScale
) -> list[Hit | SaidHit]:
    """Passages in their order. A memory stands where the first of its sources stands, as it says the same: of them the one is
    shown that fits the question better. Other memories come before the first passage that fits no better."""
    places = {source_of(hit): place for place, hit in reversed(list(enumerate(said)))}
    anchored, free = defaultdict[int, list[Hit]](list), list[Hit]()
    for hit in hits:
        found = [places[source] for source in sources_of(hit) if source in places]
        (anchored[min(found)] if found else free).append(hit)
    order, told = list[Hit | SaidHit](), set[Source]()
    for place, passage in enumerate(said):
        fits = relevance(passage, said_scale)
        while free and relevance(free[0], memory_scale) >= fits:
            order.append(free.pop(0))
        if source_of(passage) not in told:
            instead = [hit for hit in anchored[place] if relevance(hit, memory_scale) >= fits]
            order += instead or [passage]
            told.update(*(sources_of(hit) for hit in instead), (source_of(passage),))
    return [*order, *free]


def source_of(hit: SaidHit) -> Source:
    return hit.passage.conversation_id, hit.passage.message_id


def sources_of(hit: Hit) -> list[Source]:
    return [(source.conversation_id, source.message_id) for source in hit.memory.sources]


def relevance(hit: Hit | SaidHit, scale: CosineScale) -> float:
    """Nearness and words on one scale for both tiers."""
    if isinstance(hit, Hit):
        cosine, words = (hit.parts.cosine, hit.parts.lexical or 0.0) if hit.parts else (None, hit.score)
    else:
        cosine, words = hit.cosine, min(1.0, hit.words / DEFAULT_WEIGHTS.words_full)
    near = 0.0 if cosine is None else (cosine - scale.start) / scale.span
    return DEFAULT_WEIGHTS.nearness * near + (1 - DEFAULT_WEIGHTS.nearness) * words
