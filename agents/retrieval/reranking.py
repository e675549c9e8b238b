"""Reorders search hits by a model that reads question and text together. If the reranker fails, hits keep their order."""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec.structs import replace

from agents.passages.chunking import searchable_text
from agents.profile.profile_builder import day
from agents.retrieval.ports import SearchService
from agents.retrieval.ranking import last_said_at
from agents.retrieval.read_rights import MayRead, allow_all
from agents.retrieval.search import MAX_QUESTION_CHARS
from agents.retrieval.tiers import found_in_order
from agents.retrieval.time_limits import TimeLimited
from schemas.passages.passages import Passage
from schemas.policies.policies import PolicySelector
from schemas.retrieval.searches import Found, Hit, Query, SaidHit

MOST_FOUND: Final = 100


class Reranker(Protocol):
    """sinks.reranking.endpoint.RemoteReranker, agents.models.reranking.ModelReranker."""

    async def scores(self, query: str, texts: Sequence[str], namespaces: Sequence[str]) -> list[float]:
        """A score per text, in order; higher means more relevant. `namespaces` are the searched ones. Raises MemstreamError."""


class RerankedSearch:
    """Searches, and reorders the best `candidates` hits by the reranker. Raises what the search raises."""

    def __init__(
        self,
        search_service: SearchService,
        reranker: Reranker,
        policies: PolicySelector,
        *,
        candidates: int,
        timeout_s: float,
    ) -> None:
        self._search_service = search_service
        self._reranker = reranker
        self._policies = policies
        self._candidates = candidates
        self._time_limited = TimeLimited("reranker_slow", "reranker_failed", timeout_s=timeout_s)

    async def search(self, query: Query, may_read: MayRead = allow_all) -> Found:
        """At most `limit` hits, best first; in the order of the search if the reranker fails or times out."""
        if not query.words:
            return await self._search_service.search(query, may_read)
        limit = min(max(query.limit, self._candidates), MOST_FOUND)
        found = await self._search_service.search(replace(query, limit=limit), may_read)
        first, rest = found.mixed[: self._candidates], found.mixed[self._candidates :]
        if len(first) < 2:
            return found_in_order(found.mixed[: query.limit], found.degraded)
        texts = [self._text(hit) for hit in first]
        question = self._question(query)
        scored = await self._time_limited.call(lambda: self._reranker.scores(question, texts, query.namespaces))
        best = first if scored.value is None else reranked(first, scored.value)
        return found_in_order((*best, *rest)[: query.limit], (*found.degraded, *scored.degraded))

    def _question(self, query: Query) -> str:
        """The question without what the policy of any searched namespace removes."""
        text = query.words[: 2 * MAX_QUESTION_CHARS]
        for privacy in dict.fromkeys(self._policies.governing(namespace).privacy for namespace in query.namespaces):
            text = searchable_text(text, privacy)
        return text[:MAX_QUESTION_CHARS]

    def _text(self, hit: Hit | SaidHit) -> str:
        """The text with its date, and the speaker of a passage, as questions refer to both. The text of a passage is
        redacted already, the speaker's id is not."""
        if isinstance(hit, SaidHit):
            return "\n".join(self._line(each) for each in hit.exchange)
        memory = hit.memory
        return f"{day(last_said_at(memory))}: {self._sendable(memory.text, memory.namespace)}"

    def _line(self, passage: Passage) -> str:
        return f"{day(passage.said_at)}, {self._sendable(passage.said_by, passage.namespace)}: {passage.text}"

    def _sendable(self, text: str, namespace: str) -> str:
        return searchable_text(text, self._policies.governing(namespace).privacy)


def reranked(hits: Sequence[Hit | SaidHit], scores: Sequence[float]) -> list[Hit | SaidHit]:
    """By the scores; equal ones keep their order."""
    order = sorted(range(len(hits)), key=lambda place: -scores[place])
    return [replace(hits[place], reranked=scores[place]) for place in order]
