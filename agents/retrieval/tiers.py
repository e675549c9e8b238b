"""Searches both tiers, memories and passages, and merges their hits."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Final, Protocol, TypeAlias

from msgspec.structs import replace

from agents.retrieval.passage_neighbours import without_shown
from agents.retrieval.passage_ranking import DEFAULT_WEIGHTS, CosineScale, Span
from agents.retrieval.passage_search import FoundPassages
from agents.retrieval.question_times import spans
from agents.retrieval.read_rights import MayRead, allow_all
from schemas.passages.passages import ANY_PASSAGE, Passage, PassageFilters
from schemas.retrieval.searches import Degraded, Found, Hit, Query, SaidHit

MessageKey: TypeAlias = tuple[str, str]  # conversation_id, message_id
# Of its source's relevance, from which on a memory is shown in the place of the source. Relevance may be negative.
SOURCE_SHARE: Final = 0.8


class PassageSearch(Protocol):
    """agents.retrieval.passage_search.PassageSearch."""

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
        may_read: MayRead = allow_all,
    ) -> FoundPassages: ...


class MemorySearch(Protocol):
    """agents.retrieval.search.MemorySearch."""

    async def search(self, query: Query) -> Found: ...


class Tiers:
    """Searches memories, passages or both. Raises what the memory search raises."""

    def __init__(
        self,
        memories: MemorySearch,
        passage_search: PassageSearch,
        clock: Callable[[], datetime],
        memory_scale: CosineScale,
    ) -> None:
        self._memories = memories
        self._passage_search = passage_search
        self._clock = clock
        self._memory_scale = memory_scale

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        """At most `limit` hits of both tiers together, best first. Passages that the caller may not read (`may_read` of their
        owners) are left out first, so that they displace no other hits."""
        if not query.asks_passages:
            found = await self._memories.search(query)
            return replace(found, mixed=found.hits)
        if not query.asks_memories:
            passages = await self._passages(query, may_read)
            return Found(said=passages.hits, mixed=passages.hits, degraded=passages.degraded)
        found, passages = await asyncio.gather(
            self._memories.search(replace(query, explain=True)), self._passages(query, may_read)
        )
        both = merged(found.hits, passages.hits, self._memory_scale, self._passage_search.scale)
        best = best_of(both, query.limit)
        if not query.explain:
            best = [replace(hit, parts=None) if isinstance(hit, Hit) else hit for hit in best]
        return found_in_order(best, (*found.degraded, *passages.degraded))

    async def _passages(self, query: Query, may_read: MayRead) -> FoundPassages:
        return await self._passage_search.search(
            query.words,
            query.namespaces,
            passage_filters(query),
            spans=spans(query.words, query.asked_at or self._clock()),
            limit=query.limit,
            may_read=may_read,
        )


def passage_filters(query: Query) -> PassageFilters:
    """The query's passage filters. Without times of their own, they use the `happened_*` times of the memory filters."""
    own, filters = query.passage_filters, query.filters
    return replace(own, said_from=own.said_from or filters.happened_from, said_to=own.said_to or filters.happened_to)


def found_in_order(best: Sequence[Hit | SaidHit], degraded: Iterable[Degraded]) -> Found:
    """The answer for these hits, in this order."""
    return Found(
        hits=tuple(hit for hit in best if isinstance(hit, Hit)),
        said=tuple(hit for hit in best if isinstance(hit, SaidHit)),
        mixed=tuple(best),
        degraded=tuple(dict.fromkeys(degraded)),
    )


def merged(
    hits: Sequence[Hit], passage_hits: Sequence[SaidHit], memory_scale: CosineScale, passage_scale: CosineScale
) -> list[Hit | SaidHit]:
    """Both tiers in one order. Passages keep their order.

    A memory whose source message is among the passages or their neighbours says the same, in fewer words: it is shown at the
    passage's place if it is SOURCE_SHARE as relevant, otherwise the passage is. Other memories follow the last passage that is
    more relevant.
    """
    places = {
        message_key(passage): place
        for place, hit in reversed(list(enumerate(passage_hits)))
        for passage in hit.exchange
    }
    anchored, free = defaultdict[int, list[Hit]](list), list[Hit]()
    for hit in hits:
        found = [places[source] for source in sources_of(hit) if source in places]
        (anchored[min(found)] if found else free).append(hit)
    order, shown_sources = list[Hit | SaidHit](), set[MessageKey]()
    passage_relevance = [relevance(passage, passage_scale) for passage in passage_hits]
    best_from = list(accumulate(reversed(passage_relevance), max))[::-1]  # passages are not ordered by relevance alone
    for place, (passage_hit, passage_score) in enumerate(zip(passage_hits, passage_relevance, strict=True)):
        while free and relevance(free[0], memory_scale) >= best_from[place]:
            order.append(free.pop(0))
        memories_shown = [
            hit
            for hit in anchored[place]
            if relevance(hit, memory_scale) >= min(passage_score, SOURCE_SHARE * passage_score)
        ]
        shown_sources.update(*map(sources_of, memories_shown))
        order += memories_shown
        order += without_shown(passage_hit, lambda said: message_key(said) in shown_sources)
    return [*order, *free]


def best_of(order: Sequence[Hit | SaidHit], limit: int) -> list[Hit | SaidHit]:
    """The first `limit` hits. If these are two or more without a memory, the best memory takes the last place."""
    best = list(order[:limit])
    memory = next((hit for hit in order[limit:] if isinstance(hit, Hit)), None)
    if memory is not None and limit > 1 and not any(isinstance(hit, Hit) for hit in best):
        best[-1] = memory
    return best


def message_key(passage: Passage) -> MessageKey:
    return passage.conversation_id, passage.message_id


def sources_of(hit: Hit) -> list[MessageKey]:
    return [(source.conversation_id, source.message_id) for source in hit.memory.sources]


def relevance(hit: Hit | SaidHit, scale: CosineScale) -> float:
    """Relevance on one scale for both tiers, from similarity and words."""
    if isinstance(hit, Hit):
        cosine, words = (hit.parts.cosine, hit.parts.lexical or 0.0) if hit.parts else (None, hit.score)
    else:
        cosine, words = hit.cosine, min(1.0, hit.words / DEFAULT_WEIGHTS.words_full)
    near = 0.0 if cosine is None else (cosine - scale.start) / scale.span
    return DEFAULT_WEIGHTS.nearness * near + (1 - DEFAULT_WEIGHTS.nearness) * words
