"""Ranks passages for a question: by vector similarity and BM25, then by the scores of neighbouring messages. Pure.

The weights were tuned on half of the conversations of two public datasets; deploy/docs/retrieval.md has the results on the
other half.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import isnan
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from agents.retrieval.passage_bm25 import QuestionWords, WordWeights, bm25
from agents.retrieval.passage_exchanges import Scores, best_around, in_order, messages_of
from agents.retrieval.passage_wording import WordingWeights, weight_for, wording
from sinks.passages.rows import PassageRow

Span: TypeAlias = tuple[datetime, datetime]

TIME_GRACE: Final = timedelta(days=2)  # people still talk about a day for some days


class Weights(Struct, frozen=True, kw_only=True):
    """Weights of a passage's score.

    Relevance is `nearness` times the vector similarity plus (1 - `nearness`) times the word score; a BM25 score of
    `words_full` counts as a word score of 1. The other weights are added to the relevance.
    """

    nearness: float = 0.7
    words_full: float = 12.0
    words: WordWeights = WordWeights()
    time: float = 0.25
    exchange: float = 0.25
    wording: WordingWeights = WordingWeights()


DEFAULT_WEIGHTS: Final = Weights()


class CosineScale(Struct, frozen=True, kw_only=True):
    """The range of an embedding model's cosines. Below `floor`, no passage is related to the question.

    Similarity is scaled to the range of the found cosines, of at least `least_range`. For comparison with memories, cosines
    from `start` to `start + span` count from 0 to 1, fitted so that models agree.
    """

    start: float
    span: float
    floor: float
    least_range: float


SCALES: Final[Mapping[str, CosineScale]] = {
    "all-MiniLM-L6-v2-int8": CosineScale(start=-0.20, span=1.20, floor=0.40, least_range=0.35),
    "e5-small-v2-chat-int8": CosineScale(start=0.345, span=0.355, floor=0.545, least_range=0.20),
    "e5-small-v2-int8": CosineScale(start=0.56, span=0.27, floor=0.69, least_range=0.14),
    "bge-small-en-v1.5-int8": CosineScale(start=0.30, span=0.60, floor=0.56, least_range=0.25),
}
UNMEASURED: Final = CosineScale(start=0.15, span=0.70, floor=0.0, least_range=0.35)
MIN_WORD_SHARE: Final = 0.5  # share of the question's total word weight


def cosine_scale(embedding_model: str) -> CosineScale:
    return SCALES.get(embedding_model, UNMEASURED)


class Ranked(Struct, frozen=True, kw_only=True, gc=False):
    """The best passage of a message. `score` is comparable within one answer. `cosine` is None if the vector index did not
    return the passage."""

    passage_id: str
    score: float
    cosine: float | None
    words: float


class PassageWording(NamedTuple):
    """The text of a passage, and whether the question names its speaker."""

    text: str
    is_named: bool


def ranked(
    rows: Sequence[PassageRow],
    cosines: Mapping[str, float],
    question: QuestionWords,
    spans: Sequence[Span],
    scale: CosineScale,
    weights: Weights = DEFAULT_WEIGHTS,
) -> list[Ranked]:
    """One hit per message, best first. `spans` are the times that the question names."""
    rows = in_order(rows)
    if not rows:
        return []
    messages = messages_of(rows)
    known = np.array([cosines.get(row.passage_id, np.nan) for row in rows])
    words, all_words = bm25(rows, messages, question, weights.words)
    if is_unrelated(known, words, all_words, scale):
        return []
    found = ~np.isnan(known) | (words > 0)
    near = nearness(known, min(cosines.values(), default=0.0), scale)
    scores = relevance(near, words, weights) + weights.time * in_spans([row.said_at for row in rows], spans)
    scores = np.where(found, scores, -np.inf)
    of_messages = np.maximum.reduceat(scores, messages.first_rows)
    around = best_around(of_messages, messages)[messages.of_row]
    scores = np.where(found, scores + weights.exchange * np.where(found, around, 0.0), -np.inf)
    order = np.argsort(-scores, kind="stable")
    order = order[found[order]]
    _, firsts = np.unique(messages.of_row[order], return_index=True)
    best = order[np.sort(firsts)]
    columns = (best.tolist(), scores[best].tolist(), known[best].tolist(), words[best].tolist())
    return [
        Ranked(passage_id=rows[at].passage_id, score=score, cosine=None if isnan(cosine) else cosine, words=word_score)
        for at, score, cosine, word_score in zip(*columns, strict=True)
    ]


def is_unrelated(known: Scores, words: Scores, all_words: float, scale: CosineScale) -> bool:
    """Whether no passage is near enough to the question, and none has half of the question's words by weight."""
    nearest = float(np.nanmax(known)) if not np.isnan(known).all() else -1.0
    return nearest < scale.floor and float(words.max(initial=0.0)) < max(MIN_WORD_SHARE * all_words, 1e-9)


def nearness(known: Scores, farthest: float, scale: CosineScale) -> Scores:
    """Cosines scaled from 0 (the farthest returned passage, or not returned) to 1 (the nearest). The scale is at least
    `least_range` wide: cosines that differ little say little."""
    if np.isnan(known).all():
        return np.zeros(len(known))
    span = max(float(np.nanmax(known)) - farthest, scale.least_range)
    near: Scores = (np.nan_to_num(known, nan=farthest) - farthest) / span
    return near


def relevance(near: Scores, words: Scores, weights: Weights) -> Scores:
    """Weighted sum of similarity and word score. Word scores are scaled by the best one, at least by `words_full`, so that a
    match of common words alone counts less."""
    shares = words / max(weights.words_full, float(words.max(initial=0.0)))
    total: Scores = weights.nearness * near + (1 - weights.nearness) * shares
    return total


def in_spans(moments: Sequence[datetime], spans: Sequence[Span]) -> Scores:
    """1 for each time within one of the spans, or up to `TIME_GRACE` later; else 0."""
    if not spans:
        return np.zeros(len(moments))
    return np.array([any(start <= at and at - end < TIME_GRACE for start, end in spans) for at in moments], np.float64)


def ranked_by_wording(
    best: Sequence[Ranked], wordings: Mapping[str, PassageWording], weights: Weights, question: str
) -> list[Ranked]:
    """Adds the preference of its wording to each score, and sorts. Passages without a text are left out."""
    weight = weight_for(question)
    found = [
        replace(
            each,
            score=each.score + weight * wording(passage.text, with_names=passage.is_named).preference(weights.wording),
        )
        for each in best
        if (passage := wordings.get(each.passage_id)) is not None
    ]
    return sorted(found, key=lambda each: -each.score)
