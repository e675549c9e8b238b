"""Ranks passages for a question: nearness and words over candidates, then the exchange around each. Pure: values in, values out.

Weights were chosen on the tuned halves of three public sets of conversations (`make bench-recall` has the figures).
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sinks.passages.rows import PassageRow

Scores: TypeAlias = NDArray[np.float64]
Span: TypeAlias = tuple[datetime, datetime]
Place: TypeAlias = tuple[str, str]  # a namespace and a conversation of it

LONG: Final = 30  # words that say something: a message of so many is not too short to tell anything
REACH: Final = 12  # messages on either side that belong to an exchange
SESSION_GAP: Final = timedelta(hours=6)  # of silence: what follows is another exchange
GRACE: Final = timedelta(days=2)  # people tell of a day for some days after it


class Weights(Struct, frozen=True, kw_only=True):
    """`nearness` and its rest, words, make the score; the others are added or taken off. `words_full` is the BM25 score
    that counts as whole. `before`, `after`: how much a word of the message before or after counts, where its own count 1."""

    nearness: float = 0.6
    words_full: float = 12.0
    k1: float = 0.9
    b: float = 0.4
    before: float = 0.5
    after: float = 0.3
    asks: float = 0.1
    length: float = 0.1
    time: float = 0.2
    exchange: float = 0.5


DEFAULT_WEIGHTS: Final = Weights()


class CosineScale(Struct, frozen=True):
    """The cosines of an embedding model: `start` counts 0, `start + span` 1; neither end is clipped. A question whose nearest
    passage lies below `floor` is about nothing that was said."""

    start: float
    span: float
    floor: float


SCALES: Final[Mapping[str, CosineScale]] = {
    "all-MiniLM-L6-v2-int8": CosineScale(0.15, 0.70, 0.449),
    "e5-small-v2-int8": CosineScale(0.70, 0.20, 0.807),
    "bge-small-en-v1.5-int8": CosineScale(0.45, 0.50, 0.616),
}
UNMEASURED: Final = CosineScale(0.15, 0.70, 0.0)


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
    asked: Mapping[str, Sequence[int]],
    passages: int,
    spans: Sequence[Span],
    scale: CosineScale,
    weights: Weights = DEFAULT_WEIGHTS,
) -> list[Ranked]:
    """One hit a message, the best first. `asked` are the question's terms by namespace, `passages` how many there are in all."""
    if not rows:
        return []
    rows = sorted(rows, key=lambda row: (row.conversation_id, row.ordinal, row.passage_id))
    known = np.array([cosines.get(row.passage_id, np.nan) for row in rows])
    words = bm25(rows, asked, passages, weights)
    lowest = float(np.nanmin(known)) if cosines and not np.isnan(known).all() else scale.start
    found = ~np.isnan(known) | (words > 0)
    if is_unrelated(known, words, scale, weights):
        return []
    scores = fused(np.where(np.isnan(known), lowest, known), words, scale, weights)
    scores -= weights.asks * np.array([row.asks for row in rows])
    scores += weights.length * length_preference(np.array([len(row.terms) for row in rows]))
    scores += weights.time * said_then([row.said_at for row in rows], spans)
    scores = np.where(found, scores, -np.inf)
    scores = scores + weights.exchange * best_around(scores, places(rows))
    best: dict[tuple[str, str], int] = {}
    for at in np.argsort(-scores, kind="stable"):
        row = rows[at]
        if found[at]:
            best.setdefault((row.conversation_id, row.message_id), int(at))
    return [
        Ranked(
            passage_id=rows[at].passage_id,
            score=float(scores[at]),
            cosine=None if np.isnan(known[at]) else float(known[at]),
            words=float(words[at]),
        )
        for at in best.values()
    ]


def is_unrelated(known: Scores, words: Scores, scale: CosineScale, weights: Weights) -> bool:
    """Whether nothing is near enough to be about what is asked, and no rare words are shared."""
    nearest = float(np.nanmax(known)) if not np.isnan(known).all() else -1.0
    return nearest < scale.floor and float(words.max(initial=0.0)) < weights.words_full / 2


def fused(nearness: Scores, words: Scores, scale: CosineScale, weights: Weights) -> Scores:
    """Nearness on the scale of its model, words beside the best: no other candidate moves a score. Where no rare word is shared,
    words count for less."""
    near = (nearness - scale.start) / scale.span
    worded = words / max(weights.words_full, float(words.max(initial=0.0)))
    total: Scores = weights.nearness * near + (1 - weights.nearness) * worded
    return total


def bm25(rows: Sequence[PassageRow], asked: Mapping[str, Sequence[int]], passages: int, weights: Weights) -> Scores:
    """Okapi BM25 (Robertson and Zaragoza, 2009) of rows in the order of their conversations. A row counts the words of the
    messages right before and after it as well, by `before` and `after`. A word's passages are counted among the rows."""
    width = max((len(each) for each in asked.values()), default=0)
    own = counts(rows, asked, width)
    lengths = np.array([float(len(row.terms)) for row in rows])
    counted, long = own.copy(), lengths.copy()
    for step, weight in ((-1, weights.before), (1, weights.after)):
        beside = neighbours(rows, step)
        has = beside >= 0
        counted[has] += weight * own[beside[has]]
        long[has] += weight * lengths[beside[has]]
    longer = 1 - weights.b + weights.b * long / max(float(long.mean()), 1e-9)
    having = np.count_nonzero(counted, axis=0)
    rarity = np.log(1 + (np.maximum(passages, having) - having + 0.5) / (having + 0.5))
    total: Scores = (rarity * counted * (weights.k1 + 1) / (counted + weights.k1 * longer[:, None])).sum(axis=1)
    return total


def counts(rows: Sequence[PassageRow], asked: Mapping[str, Sequence[int]], width: int) -> Scores:
    """How often each row has each word of the question: (rows, width). Terms of different namespaces do not meet, so all rows are
    looked through at once."""
    places = {term: place for terms in asked.values() for place, term in enumerate(terms)}
    if not places:
        return np.zeros((len(rows), width))
    known = np.array(sorted(places))
    words = np.array([places[term] for term in known.tolist()])
    terms = np.concatenate([row.terms for row in rows])
    row_of = np.repeat(np.arange(len(rows)), [len(row.terms) for row in rows])
    at = np.minimum(np.searchsorted(known, terms), len(known) - 1)
    hits = known[at] == terms
    found = np.bincount(row_of[hits] * width + words[at[hits]], minlength=len(rows) * width)
    return found.reshape(len(rows), width).astype(np.float64)


def neighbours(rows: Sequence[PassageRow], step: int) -> NDArray[np.intp]:
    """For each row the place of a row of the message `step` on in the same exchange, -1 where there is none."""
    at = {(row.conversation_id, row.ordinal): place for place, row in enumerate(rows)}
    found = [at.get((row.conversation_id, row.ordinal + step), -1) for row in rows]
    return np.array(
        [
            other if other >= 0 and abs(rows[other].said_at - row.said_at) <= SESSION_GAP else -1
            for row, other in zip(rows, found, strict=True)
        ],
        np.intp,
    )


def length_preference(words: NDArray[np.intp]) -> Scores:
    """From 0 for a text without words to 1 for one of LONG or more."""
    preference: Scores = np.minimum(np.log1p(words) / math.log(LONG), 1.0)
    return preference


def said_then(moments: Sequence[datetime], spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Whether each was said in a span of time that the question names, or soon after."""
    return np.array([any(start <= at < end + GRACE for start, end in spans) for at in moments], np.bool_)


def places(rows: Sequence[PassageRow]) -> NDArray[np.intp]:
    """Two numbers a row: its exchange, which ends with a conversation or a long silence, and its place in the conversation."""
    found, exchange = np.empty((len(rows), 2), np.intp), 0
    for at, row in enumerate(rows):
        before = rows[at - 1] if at else row
        same = before.conversation_id == row.conversation_id
        exchange += not (same and row.said_at - before.said_at <= SESSION_GAP)
        found[at] = exchange, row.ordinal
    return found


def best_around(scores: Scores, where: NDArray[np.intp]) -> Scores:
    """The best score within REACH messages of the same exchange, its own included."""
    best = scores.copy()
    for step in range(1, len(scores)):
        near = (where[step:, 0] == where[:-step, 0]) & (where[step:, 1] - where[:-step, 1] <= REACH)
        if not near.any():
            break
        ahead, behind = best[step:], best[:-step]
        ahead[near] = np.maximum(ahead[near], scores[:-step][near])
        behind[near] = np.maximum(behind[near], scores[step:][near])
    return best
