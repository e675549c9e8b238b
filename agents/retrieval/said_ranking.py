"""Ranks passages for a question: nearness and words, then the exchange around each. Pure: values in, values out.

Weights were chosen on half of the conversations of two public sets; deploy/docs/retrieval.md has the figures of the others.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct

from agents.retrieval.said_exchanges import Scores, best_around, in_order, messages_of
from agents.retrieval.said_words import LONG, QuestionWords, WordWeights, bm25
from sinks.passages.rows import PassageRow

Span: TypeAlias = tuple[datetime, datetime]

GRACE: Final = timedelta(days=2)  # people tell of a day for some days after it


class Weights(Struct, frozen=True, kw_only=True):
    """`nearness` and its rest, words, make the relevance; the others are added or taken off. `words_full` is the BM25 score
    that counts as whole. Where a question names somebody who spoke, `named` of the nearness is that of what they said to the rest
    of the question."""

    nearness: float = 0.6
    named: float = 0.7
    words_full: float = 12.0
    words: WordWeights = WordWeights()
    asks: float = 0.1
    length: float = 0.1
    time: float = 0.25
    exchange: float = 0.25


DEFAULT_WEIGHTS: Final = Weights()


class CosineScale(Struct, frozen=True, kw_only=True):
    """The cosines of an embedding model. A question whose nearest passage lies below `floor` is about nothing that was said.

    Nearness is measured in a range of `least_range` at least. Where memories are compared with passages, `start` counts 0 and
    `start + span` 1: fitted so that a question and a text have about the same place by each model.
    """

    start: float
    span: float
    floor: float
    least_range: float


SCALES: Final[Mapping[str, CosineScale]] = {
    "all-MiniLM-L6-v2-int8": CosineScale(start=-0.20, span=1.20, floor=0.40, least_range=0.35),
    "e5-small-v2-int8": CosineScale(start=0.70, span=0.20, floor=0.79, least_range=0.10),
    "bge-small-en-v1.5-int8": CosineScale(start=0.30, span=0.60, floor=0.56, least_range=0.25),
}
UNMEASURED: Final = CosineScale(start=0.15, span=0.70, floor=0.0, least_range=0.35)
WORDS_ENOUGH: Final = 0.5  # of what the question's words weigh together


def cosine_scale(embedding_model: str) -> CosineScale:
    return SCALES.get(embedding_model, UNMEASURED)


class Ranked(Struct, frozen=True, kw_only=True):
    """A passage that was found: the best of its message. `score` is comparable within one answer; `cosine` is None where the
    vector index did not name it."""

    passage_id: str
    score: float
    cosine: float | None
    words: float


def ranked(
    rows: Sequence[PassageRow],
    cosines: Mapping[str, float],
    question: QuestionWords,
    spans: Sequence[Span],
    scale: CosineScale,
    weights: Weights = DEFAULT_WEIGHTS,
    *,
    of_named: Mapping[str, float] | None = None,
) -> list[Ranked]:
    """One hit a message, the best first. `spans` are times that the question names; `of_named` are cosines of what those said
    whom it names, to the question without their names."""
    rows = in_order(rows)
    if not rows:
        return []
    messages = messages_of(rows)
    known = np.array([cosines.get(row.passage_id, np.nan) for row in rows])
    words, all_words = bm25(rows, messages, question, weights.words)
    if is_unrelated(known, words, all_words, scale):
        return []
    theirs = np.array([(of_named or {}).get(row.passage_id, np.nan) for row in rows])
    found = ~np.isnan(known) | (words > 0) | ~np.isnan(theirs)
    farthest = min(cosines.values(), default=0.0)
    near = nearness(known, farthest, scale)
    if of_named:  # all of somebody's passages may be near: what is far is told by those of the others as well
        farthest = min(farthest, *of_named.values())
        near = (1 - weights.named) * near + weights.named * nearness(theirs, farthest, scale)
    known = np.where(np.isnan(known), theirs, known)
    scores = relevance(near, words, weights) + preferences(rows, spans, weights)
    scores = np.where(found, scores, -np.inf)
    of_messages = np.maximum.reduceat(scores, messages.first_rows)
    around = best_around(of_messages, messages)[messages.of_row]
    scores = np.where(found, scores + weights.exchange * np.where(found, around, 0.0), -np.inf)
    best: dict[int, int] = {}
    for at in np.argsort(-scores, kind="stable").tolist():
        if found[at]:
            best.setdefault(int(messages.of_row[at]), at)
    return [
        Ranked(
            passage_id=rows[at].passage_id,
            score=float(scores[at]),
            cosine=None if np.isnan(known[at]) else float(known[at]),
            words=float(words[at]),
        )
        for at in best.values()
    ]


def is_unrelated(known: Scores, words: Scores, all_words: float, scale: CosineScale) -> bool:
    """Whether nothing is near enough to be about what is asked, and no passage has half of its words by their weight."""
    nearest = float(np.nanmax(known)) if not np.isnan(known).all() else -1.0
    return nearest < scale.floor and float(words.max(initial=0.0)) < max(WORDS_ENOUGH * all_words, 1e-9)


def nearness(known: Scores, farthest: float, scale: CosineScale) -> Scores:
    """From 0 for the farthest that the vector index named, and for what it did not name, to 1 for the nearest. Where all are
    about as near, that tells little: so the range has a least width."""
    if np.isnan(known).all():
        return np.zeros(len(known))
    span = max(float(np.nanmax(known)) - farthest, scale.least_range)
    near: Scores = (np.nan_to_num(known, nan=farthest) - farthest) / span
    return near


def relevance(near: Scores, words: Scores, weights: Weights) -> Scores:
    """Nearness, and words beside the best; where no rare word is shared, words count for less."""
    shares = words / max(weights.words_full, float(words.max(initial=0.0)))
    total: Scores = weights.nearness * near + (1 - weights.nearness) * shares
    return total


def preferences(rows: Sequence[PassageRow], spans: Sequence[Span], weights: Weights) -> Scores:
    """What speaks for a passage whatever its words: it states something, says more than a word or two, was said at the time."""
    lengths = np.array([len(row.terms) for row in rows])
    says_more = np.minimum(np.log1p(lengths) / math.log(LONG), 1.0)
    total: Scores = weights.length * says_more - weights.asks * np.array([float(row.asks) for row in rows])
    return total + weights.time * said_then([row.said_at for row in rows], spans)


def said_then(moments: Sequence[datetime], spans: Sequence[Span]) -> Scores:
    """1 for each that was said in a span of time that the question names, or soon after; else 0."""
    return np.array([any(start <= at < end + GRACE for start, end in spans) for at in moments], np.float64)
