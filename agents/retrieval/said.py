"""Search in what was said: the nearest passages and those with the question's words, ranked together."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agents.passages.reading import owners, readable
from agents.passages.words import question_words, terms
from agents.privacy.scrub import sendable
from agents.retrieval.said_ranking import (
    DEFAULT_WEIGHTS,
    CosineScale,
    Ranked,
    Span,
    Weights,
    cosine_scale,
    ranked,
)
from agents.retrieval.said_speakers import named, without_names
from agents.retrieval.said_words import QuestionWords
from agents.retrieval.time_limits import WITHIN_S, Bounded
from schemas.passages.passages import ANY_PASSAGE, PassageFilters
from schemas.policies.policies import PolicySelector, Privacy
from schemas.retrieval.searches import Degraded, SaidHit
from sinks.embeddings.port import Embedder
from sinks.passages.matching import Matches
from sinks.passages.rows import PassageRow
from sinks.passages.store import PassageText
from sinks.vectors.port import Neighbour, Vector

NEAREST = 1_000  # passages whose cosines are asked for: those that share words need theirs too
CANDIDATES = 100  # the nearest, read whatever their words
SHARING_WORDS = 400  # messages with words of the question; of more those with rare ones
EMBEDDED_CHARS = 2_000  # of a question


class PassageStore(Protocol):
    """sinks.passages.store.Passages."""

    async def matches(
        self,
        terms: Collection[int],
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        limit: int = SHARING_WORDS,
    ) -> Matches: ...

    async def rows(
        self, passage_ids: Collection[str], namespaces: Collection[str], filters: PassageFilters = ANY_PASSAGE
    ) -> list[PassageRow]: ...

    async def texts(self, passage_ids: Collection[str]) -> dict[str, PassageText]: ...


class NearestPassages(Protocol):
    """sinks.passages.vectors.PassageVectors."""

    async def nearest(
        self, vector: Vector, namespaces: Collection[str], filters: PassageFilters = ANY_PASSAGE, *, limit: int
    ) -> list[Neighbour]: ...


class SaidFound(Struct, frozen=True, kw_only=True):
    """The best first; `degraded` says what could not be asked."""

    hits: tuple[SaidHit, ...] = ()
    degraded: tuple[Degraded, ...] = ()


class SecondLook(NamedTuple):
    """What those said whom the question names, by the question without their names; the nearest first."""

    rows: Sequence[PassageRow] = ()
    cosines: Mapping[str, float] = {}
    degraded: tuple[Degraded, ...] = ()


class SaidSearch:
    """Searches passages of namespaces. Raises Retryable when PostgreSQL cannot answer now, and for nothing else."""

    def __init__(
        self,
        embedder: Embedder,
        vectors: NearestPassages,
        passages: PassageStore,
        policies: PolicySelector,
        *,
        scale: CosineScale | None = None,
        within_s: float = WITHIN_S,
        weights: Weights = DEFAULT_WEIGHTS,
    ) -> None:
        self._embedder = embedder
        self._vectors = vectors
        self._passages = passages
        self._policies = policies
        self.scale = scale or cosine_scale(embedder.model)
        self._weights = weights
        self._embedding = Bounded("embedder_slow", "embedder_failed", within_s=within_s)
        self._indexed = Bounded("vectors_slow", "vectors_failed", within_s=within_s)

    async def search(
        self,
        text: str,
        namespaces: Collection[str],
        filters: PassageFilters = ANY_PASSAGE,
        *,
        spans: Sequence[Span] = (),
        limit: int = 10,
    ) -> SaidFound:
        """At most `limit` passages, one a message, the best first. `spans` are times that the question names."""
        words = question_words(text)
        of_namespaces = {namespace: terms(namespace, words) for namespace in namespaces}
        any_term = {term for each in of_namespaces.values() for term in each}
        near, matches = await asyncio.gather(
            self._near(text, namespaces, filters),
            self._passages.matches(any_term, namespaces, filters, limit=SHARING_WORDS),
        )
        if not matches.passages:
            return SaidFound()  # nothing was said, so nothing is missed, whatever cannot be asked
        cosines, degraded = near
        most = len(cosines) if filters != ANY_PASSAGE else CANDIDATES
        rows = [*matches.rows, *await self._nearest_rows(list(cosines), most, matches.rows, namespaces, filters)]
        second = await self._second_look(text, words, rows, namespaces, filters)
        question = QuestionWords(terms=of_namespaces, counts=matches.counts, passages=matches.passages)
        best = ranked(
            [*rows, *second.rows], cosines, question, spans, self.scale, self._weights, of_named=second.cosines
        )[:limit]
        return SaidFound(
            hits=tuple(await self._shown(best)), degraded=tuple(dict.fromkeys((*degraded, *second.degraded)))
        )

    async def _second_look(
        self,
        text: str,
        words: Collection[str],
        rows: Sequence[PassageRow],
        namespaces: Collection[str],
        filters: PassageFilters,
    ) -> SecondLook:
        """Where the question names somebody who spoke: what they said, by the rest of the question. A name is in every passage of
        its speaker and in many that address them, so that it takes the place of what is asked."""
        speakers = named((row.speaker for row in rows), words)
        rest = without_names(text, speakers) if speakers else ""
        if not rest:
            return SecondLook()
        theirs = replace(filters, speakers=filters.speakers or speakers)
        cosines, degraded = await self._near(rest, namespaces, theirs)
        found = await self._nearest_rows(list(cosines), CANDIDATES, rows, namespaces, theirs)
        return SecondLook(rows=found, cosines=cosines, degraded=degraded)

    async def _nearest_rows(
        self,
        nearest: Sequence[str],
        most: int,
        known: Sequence[PassageRow],
        namespaces: Collection[str],
        filters: PassageFilters,
    ) -> list[PassageRow]:
        """The `most` nearest that may be found, besides those known. The index may name many that are gone or hidden: others take
        their place."""
        have = {row.passage_id for row in known}
        found, at, wanted = list[PassageRow](), 0, most
        while wanted and at < len(nearest):
            asked = nearest[at : at + wanted]
            missing = [each for each in asked if each not in have]
            rows = await self._passages.rows(missing, namespaces, filters)
            found += rows
            at, wanted = at + len(asked), len(missing) - len(rows)
        return found

    async def _near(
        self, text: str, namespaces: Collection[str], filters: PassageFilters
    ) -> tuple[dict[str, float], tuple[Degraded, ...]]:
        """Cosines of the nearest passages, the nearest first."""
        question = sendable(text[: 2 * EMBEDDED_CHARS], Privacy())[:EMBEDDED_CHARS]
        embedded = await self._embedding.ask(lambda: self._embedder.embed_questions([question]))
        if embedded.value is None:
            return {}, embedded.degraded
        vector = embedded.value[0]
        found = await self._indexed.ask(lambda: self._vectors.nearest(vector, namespaces, filters, limit=NEAREST))
        if found.value is None:
            return {}, found.degraded
        return {each.memory_id: each.score for each in found.value}, ()

    async def _shown(self, best: Sequence[Ranked]) -> list[SaidHit]:
        """With their texts, without those that left the archive meanwhile, or may not be shown any more."""
        texts = await self._passages.texts([each.passage_id for each in best])
        return [
            SaidHit(
                score=each.score,
                cosine=each.cosine,
                words=each.words,
                passage=passage,
                owners=owners(texts[each.passage_id], self._policies),
            )
            for each in best
            if each.passage_id in texts and (passage := readable(texts[each.passage_id], self._policies)) is not None
        ]
