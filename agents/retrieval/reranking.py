"""Reranking: what a search found, ordered anew by a model that reads question and text together; done without when it fails."""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from agents.passages.building import searchable_text
from agents.retrieval.block_style import day
from agents.retrieval.ranking import said
from agents.retrieval.search import ASKED_CHARS
from agents.retrieval.tiers import ordered
from agents.retrieval.time_limits import Bounded
from schemas.policies.policies import PolicySelector
from schemas.retrieval.searches import Found, Hit, Query, SaidHit

MOST_FOUND: Final = 100


class Reranker(Protocol):
    """sinks.reranking.endpoint.RemoteReranker, agents.models.reranking.ModelReranker."""

    async def scores(self, query: str, texts: Sequence[str], namespaces: Sequence[str]) -> list[float]:
        """One for each text, higher for what fits better. `namespaces` are those that are searched. Raises MemstreamError."""


class Searching(Protocol):
    """agents.retrieval.tiers.Tiers."""

    async def search(self, asked: Query) -> Found: ...


class RerankedSearch:
    """Searches, and puts the best `candidates` into the reranker's order. Raises what the search raises."""

    def __init__(
        self,
        searching: Searching,
        reranker: Reranker,
        policies: PolicySelector,
        *,
        candidates: int,
        within_s: float,
    ) -> None:
        self._searching = searching
        self._reranker = reranker
        self._policies = policies
        self._candidates = candidates
        self._bounded = Bounded("reranker_slow", "reranker_failed", within_s=within_s)

    async def search(self, asked: Query) -> Found:
        """At most `limit`, the best first; in the order of the search when the reranker does not answer in time."""
        if not asked.words:
            return await self._searching.search(asked)
        limit = min(max(asked.limit, self._candidates), MOST_FOUND)
        found = await self._searching.search(replace(asked, limit=limit))
        first, rest = found.mixed[: self._candidates], found.mixed[self._candidates :]
        if len(first) < 2:
            return ordered(found.mixed[: asked.limit], found.degraded)
        texts = [self._text(hit) for hit in first]
        query = self._sendable(asked.words[: 2 * ASKED_CHARS], asked.namespaces[0])[:ASKED_CHARS]
        scored = await self._bounded.ask(lambda: self._reranker.scores(query, texts, asked.namespaces))
        best = first if scored.value is None else reranked(first, scored.value)
        return ordered((*best, *rest)[: asked.limit], (*found.degraded, *scored.degraded))

    def _text(self, hit: Hit | SaidHit) -> str:
        """With its day, and who said it: questions ask for both. A passage is without what privacy takes out already."""
        if isinstance(hit, SaidHit):
            return f"{day(hit.passage.said_at)}, {hit.passage.said_by}: {hit.passage.text}"
        memory = hit.memory
        return f"{day(said(memory))}: {self._sendable(memory.text, memory.namespace)}"

    def _sendable(self, text: str, namespace: str) -> str:
        return searchable_text(text, self._policies.governing(namespace).privacy)


def reranked(hits: Sequence[Hit | SaidHit], scores: Sequence[float]) -> list[Hit | SaidHit]:
    """By the scores; equal ones keep their order."""
    order = sorted(range(len(hits)), key=lambda place: -scores[place])
    return [replace(hits[place], reranked=scores[place]) for place in order]
