"""Passage search: finds the nearest passages and those with words of the question, and ranks both together."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.passages.passage_reader import owners, part_of, readable
from agents.passages.terms import question_words, terms
from agents.privacy.scrub import sendable
from agents.retrieval.passage_bm25 import QuestionWords
from agents.retrieval.passage_neighbours import Place, merge_neighbours, neighbour_places, place_of
from agents.retrieval.passage_ranking import (
    DEFAULT_WEIGHTS,
    CosineScale,
    PassageWording,
    Ranked,
    Span,
    Weights,
    cosine_scale,
    ranked,
    ranked_by_wording,
)
from agents.retrieval.question_speakers import named_speakers, without_names
from agents.retrieval.time_limits import TIMEOUT_S, TimeLimited
from schemas.passages.passages import ANY_PASSAGE, PassageFilters, ReadPassage
from schemas.policies.policies import PolicySelector, Privacy
from schemas.retrieval.searches import Degraded, SaidHit
from sinks.embeddings.port import Embedder
from sinks.passages.matching import Matches
from sinks.passages.rows import PassageRow
from sinks.passages.store import PassageText
from sinks.vectors.port import Neighbour, Vector

MAX_NEAREST = 1_000  # nearest passages requested from the index, so that word matches get cosines too
MAX_CANDIDATES = 100  # nearest passages that are ranked without a word match
MAX_TEXTS = 50  # best passages whose texts are read and rated by wording
MAX_WORD_MATCHES = 400  # messages that share words with the question; those with rare words first
EMBEDDED_CHARS = 2_000  # of a question that are embedded


class PassageStore(Protocol):
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

    async def texts(self, passage_ids: Collection[str]) -> dict[str, PassageText]: ...

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


class SpeakerMatches(NamedTuple):
    """Passages of the speakers that the question names, and their cosines to the question without these names, nearest
    first."""

    rows: Sequence[PassageRow] = ()
    cosines: Mapping[str, float] = {}
    speakers: tuple[str, ...] = ()
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
    ) -> FoundPassages:
        """At most `limit` hits, best first, one per message, each with the neighbouring messages that it needs. `spans` are
        the times that the question names."""
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
        by_speakers = await self._speaker_matches(text, words, rows, namespaces, filters)
        question = QuestionWords(terms=of_namespaces, counts=matches.counts, passages=matches.passages)
        best = ranked(
            [*rows, *by_speakers.rows],
            cosines,
            question,
            spans,
            self.scale,
            self._weights,
            of_named=by_speakers.cosines,
        )[: max(limit, MAX_TEXTS)]
        hits = await self._readable_hits(best, by_speakers.speakers, 2 * limit)  # joined hits leave free places
        return FoundPassages(
            hits=tuple(merge_neighbours(hits, await self._neighbours(hits, namespaces, filters))[:limit]),
            degraded=tuple(dict.fromkeys((*degraded, *by_speakers.degraded))),
        )

    async def _speaker_matches(
        self,
        text: str,
        words: Collection[str],
        rows: Sequence[PassageRow],
        namespaces: Collection[str],
        filters: PassageFilters,
    ) -> SpeakerMatches:
        """Searches again, without the names, among passages of the speakers that the question names. A name occurs in most
        passages of and to its speaker, and would outweigh the other words of the question."""
        speakers = named_speakers((row.speaker for row in rows), words)
        rest = without_names(text, speakers) if speakers else ""
        if not rest:
            return SpeakerMatches()
        speaker_filters = replace(filters, speakers=filters.speakers or speakers)
        cosines, degraded = await self._near(rest, namespaces, speaker_filters)
        found = await self._nearest_rows(list(cosines), MAX_CANDIDATES, rows, namespaces, speaker_filters)
        return SpeakerMatches(rows=found, cosines=cosines, speakers=speakers, degraded=degraded)

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
        self, hits: Sequence[SaidHit], namespaces: Collection[str], filters: PassageFilters
    ) -> dict[Place, ReadPassage]:
        """Possible neighbours of the hits, as far as they pass the filters and the caller's policy shows them."""
        places = neighbour_places(hits)
        if not places:
            return {}
        texts = await self._passages.texts(await self._passages.neighbours(places, namespaces, filters))
        read = ((readable(text, self._policies), owners(text, self._policies)) for text in texts.values())
        return {place_of(passage): ReadPassage(passage=passage, owners=its) for passage, its in read if passage}

    async def _readable_hits(
        self, best: Sequence[Ranked], speakers: Collection[str], limit: int
    ) -> tuple[SaidHit, ...]:
        """The first `limit` readable hits, ordered with the preference of their wording. Passages whose message left the
        archive are left out."""
        texts = await self._passages.texts([each.passage_id for each in best])
        wordings = {
            passage_id: PassageWording(part_of(text.passage.text, text.passage.piece), text.passage.speaker in speakers)
            for passage_id, text in texts.items()
        }
        hits = (self._hit(each, texts[each.passage_id]) for each in ranked_by_wording(best, wordings, self._weights))
        return tuple(islice((hit for hit in hits if hit is not None), limit))

    def _hit(self, found: Ranked, text: PassageText) -> SaidHit | None:
        """None if the current policy hides the passage."""
        passage = readable(text, self._policies)
        if passage is None:
            return None
        return SaidHit(
            score=found.score,
            cosine=found.cosine,
            words=found.words,
            passage=passage,
            owners=owners(text, self._policies),
        )
