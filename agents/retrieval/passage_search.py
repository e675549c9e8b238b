"""Passage search: finds the nearest passages and those with words of the question, and ranks both together."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from agents.passages.passage_reader import PassageReading, TextStore
from agents.passages.redacted_messages import RedactedMessages
from agents.passages.terms import question_words, terms
from agents.privacy.scrub import sendable
from agents.retrieval.passage_bm25 import QuestionWords
from agents.retrieval.passage_neighbours import Place, merge_neighbours, neighbour_places, place_of
from agents.retrieval.passage_ranking import (
    DEFAULT_WEIGHTS,
    CosineScale,
    Ranked,
    Span,
    Weights,
    cosine_scale,
    ranked,
)
from agents.retrieval.question_speakers import named_speakers
from agents.retrieval.read_rights import MayRead, allow_all
from agents.retrieval.readable_hits import ReadableHits
from agents.retrieval.time_limits import TIMEOUT_S, TimeLimited
from schemas.passages.passages import ANY_PASSAGE, PassageFilters, ReadPassage
from schemas.policies.policies import PolicySelector, Privacy
from schemas.retrieval.searches import Degraded, SaidHit
from sinks.embeddings.port import Embedder
from sinks.passages.matching import Matches
from sinks.passages.rows import PassageRow
from sinks.vectors.port import Neighbour, Vector

MAX_NEAREST = 1_000  # nearest passages requested from the index, so that word matches get cosines too
MAX_CANDIDATES = 100  # nearest passages that are ranked without a word match
MAX_WORD_MATCHES = 200  # messages that share words with the question; those with rare words first
EMBEDDED_CHARS = 2_000  # of a question that are embedded


class PassageStore(TextStore, Protocol):
    """sinks.passages.store.Passages."""

    async def matches(
        self,
        terms: Collection[int],
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        limit: int = MAX_WORD_MATCHES,
    ) -> Matches: ...

    async def rows(
        self, passage_ids: Collection[str], namespaces: Collection[str], filters: PassageFilters = ANY_PASSAGE
    ) -> list[PassageRow]: ...

    async def neighbours(
        self,
        places: Collection[Place],
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
    ) -> list[str]: ...


class NearestPassages(Protocol):
    """sinks.passages.vectors.PassageVectors."""

    async def nearest(
        self, vector: Vector, namespaces: Collection[str], filters: PassageFilters = ANY_PASSAGE, *, limit: int
    ) -> list[Neighbour]: ...


class FoundPassages(Struct, frozen=True, kw_only=True):
    """Hits, best first; `degraded` names the parts of the search that failed or timed out."""

    hits: tuple[SaidHit, ...] = ()
    degraded: tuple[Degraded, ...] = ()


class PassageSearch:
    """Searches passages of namespaces. Raises only Retryable, while PostgreSQL is unavailable."""

    def __init__(
        self,
        embedder: Embedder,
        vectors: NearestPassages,
        passages: PassageStore,
        policies: PolicySelector,
        *,
        scale: CosineScale | None = None,
        timeout_s: float = TIMEOUT_S,
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._passages = passages
        self._policies = policies
        self._redacted = RedactedMessages()
        self.scale = scale or cosine_scale(embedder.model)
        self._weights = weights
        self._embedding = TimeLimited("embedder_slow", "embedder_failed", timeout_s=timeout_s)
        self._indexed = TimeLimited("vectors_slow", "vectors_failed", timeout_s=timeout_s)

    async def search(
        self,
        text: str,
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        spans: Sequence[Span] = (),
        limit: int = 10,
        may_read: MayRead = allow_all,
    ) -> FoundPassages:
        """At most `limit` hits, best first, one per message, each with the neighbouring messages that it needs. `spans` are
        the times that the question names. `may_read` checks the owners of passages: those that the caller may not read, or
        that policies hide, take no places of others."""
        words = question_words(text)
        of_namespaces = {namespace: terms(namespace, words) for namespace in namespaces}
        any_term = {term for each in of_namespaces.values() for term in each}
        near, matches = await asyncio.gather(
            self._near(text, namespaces, filters),
            self._passages.matches(any_term, namespaces, filters, limit=MAX_WORD_MATCHES),
        )
        if not matches.passages:
            return FoundPassages()  # without any passages a failed part changes nothing
        cosines, degraded = near
        most = len(cosines) if filters != ANY_PASSAGE else MAX_CANDIDATES
        rows = [*matches.rows, *await self._nearest_rows(list(cosines), most, matches.rows, namespaces, filters)]
        question = QuestionWords(terms=of_namespaces, counts=matches.counts, passages=matches.passages)

        def in_order() -> list[Ranked]:
            return ranked(rows, cosines, question, spans, self.scale, self._weights)

        reading = ReadableHits(
            PassageReading(self._passages, self._policies, self._redacted, namespaces),
            may_read,
            text,
            named_speakers((row.speaker for row in rows), words),
            self._weights,
            limit,
        )
        await reading.read(in_order())
        if reading.lacks_hits and len(cosines) > most and await reading.may_read_any(cosines):
            rows += await self._nearest_rows(list(cosines), len(cosines), rows, namespaces, filters)
            await reading.read(in_order())
        hits = reading.best
        neighbours = await self._neighbours(hits, reading.reading, namespaces, filters)
        return FoundPassages(hits=tuple(merge_neighbours(hits, neighbours)[:limit]), degraded=degraded)

    async def _nearest_rows(
        self,
        nearest: Sequence[str],
        most: int,
        known: Sequence[PassageRow],
        namespaces: Collection[str],
        filters: PassageFilters,
    ) -> list[PassageRow]:
        """Rows of the `most` nearest passages that exist and pass the filters, except known ones. The next nearest replace
        passages that were deleted or hidden."""
        have = {row.passage_id for row in known}
        found, at, missing_count = list[PassageRow](), 0, most
        while missing_count and at < len(nearest):
            page = nearest[at : at + missing_count]
            missing = [each for each in page if each not in have]
            rows = await self._passages.rows(missing, namespaces, filters)
            found += rows
            at, missing_count = at + len(page), len(missing) - len(rows)
        return found

    async def _near(
        self, text: str, namespaces: Collection[str], filters: PassageFilters
    ) -> tuple[dict[str, float], tuple[Degraded, ...]]:
        """Cosines of the nearest passages, nearest first."""
        question = sendable(text[: 2 * EMBEDDED_CHARS], Privacy())[:EMBEDDED_CHARS]
        embedded = await self._embedding.call(lambda: self._embedder.embed_questions([question]))
        if embedded.value is None:
            return {}, embedded.degraded
        vector = embedded.value[0]
        found = await self._indexed.call(lambda: self._vectors.nearest(vector, namespaces, filters, limit=MAX_NEAREST))
        if found.value is None:
            return {}, found.degraded
        return {each.memory_id: each.score for each in found.value}, ()

    async def _neighbours(
        self,
        hits: Sequence[SaidHit],
        reading: PassageReading,
        namespaces: Collection[str],
        filters: PassageFilters,
    ) -> dict[Place, ReadPassage]:
        """Possible neighbours of the hits, as far as they pass the filters and the current policies show them."""
        places = neighbour_places(hits)
        if not places:
            return {}
        read = await reading.by_ids(await self._passages.neighbours(places, namespaces, filters))
        return {place_of(each.passage): each for each in read.values()}
