"""Simple rankings of the same passages and vectors, to compare with memstream's search."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from agents.passages.terms import question_words, stems

Scores: TypeAlias = NDArray[np.float64]
Messages: TypeAlias = tuple[str, ...]  # of a hit: that of its passage, and its neighbours
K1: Final = 1.2
B: Final = 0.75


class Passages(Struct):
    """All passages of a conversation in order: the message of each, its words, and its vector (n, dim)."""

    message_ids: list[str]
    words: list[Counter[str]]
    vectors: NDArray[np.float32]

    def bm25(self, question: str, before: float = 0.0) -> Scores:
        """`before`: how much a word of the passage before counts."""
        query_words = question_words(question)
        own = np.array([[words[word] for word in query_words] for words in self.words], np.float64)
        lengths = np.array([float(words.total()) for words in self.words])
        own[1:] += before * own[:-1].copy()
        lengths[1:] += before * lengths[:-1].copy()
        having = np.count_nonzero(own, axis=0)
        rarity = np.log(1 + (len(own) - having + 0.5) / (having + 0.5))
        longer = 1 - B + B * lengths / lengths.mean()
        total: Scores = (rarity * own * (K1 + 1) / (own + K1 * longer[:, None])).sum(axis=1)
        return total

    def best_messages(self, scores: Scores) -> list[str]:
        return list(dict.fromkeys(self.message_ids[at] for at in np.argsort(-scores, kind="stable")))


def passages(message_ids: Sequence[str], texts: Sequence[str], vectors: NDArray[np.float32]) -> Passages:
    return Passages(list(message_ids), [Counter(stems(text)) for text in texts], vectors)


def min_max(scores: Scores) -> Scores:
    scaled: Scores = (scores - scores.min()) / max(float(scores.max() - scores.min()), 1e-9)
    return scaled


def fused(share: float, before: float) -> Callable[[Passages, str, Scores], Scores]:
    """`share` of the cosine and the rest of BM25, each between its least and its greatest."""
    return lambda held, question, cosines: share * min_max(cosines) + (1 - share) * min_max(held.bm25(question, before))


def by_ranks(held: Passages, question: str, cosines: Scores) -> Scores:
    """Reciprocal rank fusion (Cormack and others, 2009)."""
    both = (cosines, held.bm25(question))
    return sum((1 / (60 + np.argsort(np.argsort(-each, kind="stable"))) for each in both), np.zeros(len(cosines)))


WAYS: Final[dict[str, Callable[[Passages, str, Scores], Scores]]] = {
    "BM25": lambda held, question, _: held.bm25(question),
    "cosine": lambda held, question, cosines: cosines,
    "reciprocal ranks": by_ranks,
    "half cosine, half BM25": fused(0.5, 0.0),
    "half and half, with the words before": fused(0.5, 1.0),
    ".7 cosine, .3 BM25": fused(0.7, 0.0),
    ".7 and .3, with the words before": fused(0.7, 1.0),
}


def measures(found: Sequence[tuple[frozenset[str], Sequence[Messages]]]) -> dict[str, float]:
    """Returns the share of the evidence in the first 5, 10 and 20 hits, and the mean reciprocal rank of the first
    correct hit."""
    figures = {
        f"recall_{most}": mean(len(evidence & set(chain(*hits[:most]))) / len(evidence) for evidence, hits in found)
        for most in (5, 10, 20)
    }
    places = (
        next((at for at, each in enumerate(hits, 1) if evidence & set(each)), math.inf) for evidence, hits in found
    )
    return figures | {"first": mean(1 / at for at in places)}


def mean(values: object) -> float:
    listed = list(values)  # type: ignore[call-overload]
    return round(float(np.mean(listed)), 3) if listed else 0.0
