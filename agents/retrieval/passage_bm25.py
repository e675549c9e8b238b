"""BM25 scores of candidate passages, in which a short message also counts words of its neighbours. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from agents.retrieval.passage_exchanges import Messages, Numbers, Scores
from sinks.passages.rows import PassageRow

LONG_WORDS: Final = 30  # indexed words; a message with as many counts no words of its neighbours


class WordWeights(Struct, frozen=True, kw_only=True):
    """`k1` and `b` are the parameters of BM25. `before` and `after` weight the words of the previous and next message; a
    word of the message itself has weight 1. Both weights fall with the message's length, to 0 at LONG words."""

    k1: float = 0.9
    b: float = 0.6
    before: float = 1.0
    after: float = 0.5


class QuestionWords(Struct, frozen=True, kw_only=True):
    """`terms` are the term hashes of the question's words by namespace, in the order of the words. `counts` is the number of
    passages with each term, `passages` the number of all passages."""

    terms: Mapping[str, Sequence[int]]
    counts: Mapping[int, int]
    passages: int

    def rarity(self) -> Scores:
        """The inverse document frequency of each word."""
        having = np.array([[self.counts.get(term, 0) for term in terms] for terms in self.terms.values()]).sum(axis=0)
        weights: Scores = np.log(1 + (np.maximum(self.passages, having) - having + 0.5) / (having + 0.5))
        return weights


def bm25(
    rows: Sequence[PassageRow],
    messages: Messages,
    question: QuestionWords,
    weights: WordWeights,
) -> tuple[Scores, float]:
    """The Okapi BM25 score (Robertson and Zaragoza, 2009) of each row, and the score of an average passage that has each
    word of the question once.

    The answer to "Where did you go?" may share no word with the question, so a short message also counts the words of its
    neighbours, at a lower weight.
    """
    own, lengths = counts(rows, question.terms), np.array([float(len(row.terms)) for row in rows])
    if not own.shape[1]:
        return np.zeros(len(rows)), 0.0
    counted, long = own.copy(), lengths.copy()
    shortness = np.clip(1 - lengths / LONG_WORDS, 0, 1)
    of_message = np.add.reduceat(own, messages.first_rows), np.add.reduceat(lengths, messages.first_rows)
    for step, weight in ((-1, weights.before), (1, weights.after)):
        neighbours = messages.neighbours(step)[messages.of_row]
        shares = np.where(neighbours >= 0, weight * shortness, 0.0)
        counted += shares[:, None] * of_message[0][neighbours]
        long += shares * of_message[1][neighbours]
    longer = 1 - weights.b + weights.b * long / max(float(long.mean()), 1e-9)
    rarity = question.rarity()
    total: Scores = (rarity * counted * (weights.k1 + 1) / (counted + weights.k1 * longer[:, None])).sum(axis=1)
    return total, float(rarity.sum())


def counts(rows: Sequence[PassageRow], question_terms: Mapping[str, Sequence[int]]) -> Scores:
    """The frequency of each question word in each row, shape (rows, words). Terms of different namespaces differ."""
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
