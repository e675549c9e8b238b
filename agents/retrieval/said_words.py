"""BM25 over candidates, each read with the messages beside it. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from agents.retrieval.said_exchanges import Messages, Numbers, Scores
from sinks.passages.rows import PassageRow

LONG: Final = 30  # words that say something: a message of so many needs no other to be understood


class WordWeights(Struct, frozen=True, kw_only=True):
    """`k1` and `b` are BM25's. `before`, `after`: what a word of the message before or after counts for a message without any
    words, where its own count 1. The longer a message, the less; for one of LONG words nothing."""

    k1: float = 0.9
    b: float = 0.6
    before: float = 1.0
    after: float = 0.5


class QuestionWords(Struct, frozen=True, kw_only=True):
    """`terms` are those of each namespace, in the order of the question's words; `counts` says how many passages have each term,
    `passages` how many there are in all."""

    terms: Mapping[str, Sequence[int]]
    counts: Mapping[int, int]
    passages: int

    def rarity(self) -> Scores:
        """The weight of each word: the more, the fewer passages have it."""
        having = np.array([[self.counts.get(term, 0) for term in terms] for terms in self.terms.values()]).sum(axis=0)
        weights: Scores = np.log(1 + (np.maximum(self.passages, having) - having + 0.5) / (having + 0.5))
        return weights


def bm25(
    rows: Sequence[PassageRow],
    messages: Messages,
    question: QuestionWords,
    weights: WordWeights,
) -> tuple[Scores, float]:
    """Okapi BM25 (Robertson and Zaragoza, 2009) of rows in order. What answers "Where did you go?" may name no word of it, so a
    short message has those of the messages beside it as well, at a lower weight. Also what a passage of average length gets that
    has each word once."""
    own, lengths = counts(rows, question.terms), np.array([float(len(row.terms)) for row in rows])
    if not own.shape[1]:
        return np.zeros(len(rows)), 0.0
    counted, long = own.copy(), lengths.copy()
    shortness = np.clip(1 - lengths / LONG, 0, 1)
    of_message = np.add.reduceat(own, messages.first_rows), np.add.reduceat(lengths, messages.first_rows)
    for step, weight in ((-1, weights.before), (1, weights.after)):
        beside = messages.beside(step)[messages.of_row]
        shares = np.where(beside >= 0, weight * shortness, 0.0)
        counted += shares[:, None] * of_message[0][beside]
        long += shares * of_message[1][beside]
    longer = 1 - weights.b + weights.b * long / max(float(long.mean()), 1e-9)
    rarity = question.rarity()
    total: Scores = (rarity * counted * (weights.k1 + 1) / (counted + weights.k1 * longer[:, None])).sum(axis=1)
    return total, float(rarity.sum())


def counts(rows: Sequence[PassageRow], question_terms: Mapping[str, Sequence[int]]) -> Scores:
    """How often each row has each word of the question: (rows, words). Terms of different namespaces do not meet."""
    width = max((len(each) for each in question_terms.values()), default=0)
    word_of = {term: at for each in question_terms.values() for at, term in enumerate(each)}
    if not word_of:
        return np.zeros((len(rows), width))
    known = np.array(sorted(word_of))
    words = np.array([word_of[term] for term in known.tolist()])
    terms = np.concatenate([row.terms for row in rows])
    row_of: Numbers = np.repeat(np.arange(len(rows)), [len(row.terms) for row in rows])
    places = np.minimum(np.searchsorted(known, terms), len(known) - 1)
    hits = known[places] == terms
    found = np.bincount(row_of[hits] * width + words[places[hits]], minlength=len(rows) * width)
    return found.reshape(len(rows), width).astype(np.float64)
