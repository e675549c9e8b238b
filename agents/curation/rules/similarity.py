"""How near two normalised texts are, letter by letter."""

from rapidfuzz.distance import Levenshtein

ALIKE = 0.8  # above it, texts are the same but for slips and endings, unless a guard objects


def ratio(one: str, other: str) -> float:
    """1 less the edits that make one of the other, as a share of the longer one's length; in [0, 1], 0 if not above ALIKE.

    Takes time in proportion to the length times the edits that ALIKE allows.
    """
    return float(Levenshtein.normalized_similarity(one, other, score_cutoff=ALIKE))


def alike(one: str, other: str) -> bool:
    return ratio(one, other) > ALIKE
