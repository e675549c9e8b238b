"""Similarity of two normalised texts, by their characters."""

from rapidfuzz.distance import Levenshtein

ALIKE = 0.8  # above this ratio texts differ only by typos and endings, unless a guard objects


def ratio(one: str, other: str) -> float:
    """1 minus the edit distance as a share of the longer text's length, in [0, 1]; 0 if it is not above ALIKE.

    Takes time in proportion to the length times the edits that ALIKE allows.
    """
    return float(Levenshtein.normalized_similarity(one, other, score_cutoff=ALIKE))


def alike(one: str, other: str) -> bool:
    return ratio(one, other) > ALIKE
