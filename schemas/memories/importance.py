"""The three scales of importance: a fraction from 0 to 1, which is stored; tenths from 0 to 10; points from 0 to 10,000.

Points are for people who rate memories by bands. Between the bounds of the bands fractions and points go in straight lines:

| Band | Points | Fraction |
|---|---|---|
| trivial | 0 to 10 | 0 to 0.2 |
| casual | 11 to 100 | up to 0.4 |
| notable | 101 to 500 | up to 0.6 |
| important | 501 to 1,000 | up to 0.75 |
| very important | 1,001 to 5,000 | up to 0.9 |
| critical | 5,001 to 9,999 | below 1 |
| maximum | 10,000 and above | 1 |
"""

from itertools import pairwise
from typing import Final, Literal, TypeAlias

from schemas.policies.policies import Fraction

Band: TypeAlias = Literal["trivial", "casual", "notable", "important", "very important", "critical", "maximum"]

DEFAULT: Final = 0.5  # of a memory that nobody rated
MOST_POINTS: Final = 10_000
ANCHORS: Final = ((0, 0.0), (10, 0.2), (100, 0.4), (500, 0.6), (1_000, 0.75), (5_000, 0.9), (MOST_POINTS, 1.0))
BANDS: Final[tuple[tuple[int, Band], ...]] = (
    (10, "trivial"),
    (100, "casual"),
    (500, "notable"),
    (1_000, "important"),
    (5_000, "very important"),
    (MOST_POINTS - 1, "critical"),
)


def points(importance: Fraction) -> int:
    """From 0 to 10,000; only 1.0 itself has 10,000."""
    for (low, least), (high, most) in pairwise(ANCHORS):
        if importance < most:
            exact = low + (high - low) * (importance - least) / (most - least)
            return min(round(exact), MOST_POINTS - 1)
    return MOST_POINTS


def of_points(rated: int) -> Fraction:
    """The fraction that stands for so many points: those below 0 for none, those above 10,000 for as many."""
    rated = min(max(rated, 0), MOST_POINTS)
    (low, least), (high, most) = next(pair for pair in pairwise(ANCHORS) if rated <= pair[1][0])
    return least + (most - least) * (rated - low) / (high - low)


def tenths(importance: Fraction) -> float:
    """From 0 to 10, with one decimal."""
    return round(importance * 10, 1)


def of_tenths(rated: float) -> Fraction:
    """The fraction that stands for so many tenths: those below 0 for none, those above 10 for as many."""
    return min(max(rated, 0.0), 10.0) / 10


def band(rated: int) -> Band:
    """The band that so many points lie in."""
    return next((name for most, name in BANDS if rated <= most), "maximum")
