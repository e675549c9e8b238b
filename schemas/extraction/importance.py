"""The three scales of importance: a fraction from 0 to 1, which is stored; tenths from 0 to 10; points from 0
to 1,000,000, of which few memories have more than 10,000.

Points are for people who rate memories by bands. Within a band, the fraction grows in proportion to the points. From 10,000
points on it grows with their logarithm, from 0.99999 to 1, so that different points still have different fractions:

| Band | Points | Fraction |
|---|---|---|
| trivial | 0 to 10 | 0 to 0.2 |
| casual | 11 to 100 | up to 0.4 |
| notable | 101 to 500 | up to 0.6 |
| important | 501 to 1,000 | up to 0.75 |
| very important | 1,001 to 5,000 | up to 0.9 |
| critical | 5,001 to 9,999 | below 0.99999 |
| maximum | 10,000 to 1,000,000 | 0.99999 to 1 |
"""

from itertools import pairwise
from math import log
from typing import Final, Literal, TypeAlias

from schemas.policies.policies import Fraction

Band: TypeAlias = Literal["trivial", "casual", "notable", "important", "very important", "critical", "maximum"]

DEFAULT: Final = 0.4  # importance of an unrated memory: 100 points, casual
MAXIMUM: Final = 10_000  # points from which the highest band begins
MOST_POINTS: Final = 1_000_000
LEAST_MAXIMUM: Final = 0.99999  # fraction of 10,000 points
PLACES: Final = 9  # of a fraction: 0.42, not 0.42000000000000004
RATIO: Final = MOST_POINTS / MAXIMUM
ANCHORS: Final = ((0, 0.0), (10, 0.2), (100, 0.4), (500, 0.6), (1_000, 0.75), (5_000, 0.9), (MAXIMUM, 1.0))
BANDS: Final[tuple[tuple[int, Band], ...]] = (
    (10, "trivial"),
    (100, "casual"),
    (500, "notable"),
    (1_000, "important"),
    (5_000, "very important"),
    (MAXIMUM - 1, "critical"),
)


def points(importance: Fraction) -> int:
    """Points from 0 to 1,000,000; only 1.0 gives 1,000,000."""
    if importance >= LEAST_MAXIMUM:
        above = (importance - LEAST_MAXIMUM) / (1.0 - LEAST_MAXIMUM)
        return MOST_POINTS if importance >= 1.0 else min(round(MAXIMUM * RATIO**above), MOST_POINTS - 1)
    for (low, least), (high, most) in pairwise(ANCHORS):
        if importance < most:
            exact = low + (high - low) * (importance - least) / (most - least)
            return min(round(exact), MAXIMUM - 1)
    return MAXIMUM


def of_points(rated: int) -> Fraction:
    """The fraction for points; values below 0 count as 0, values above 1,000,000 as 1,000,000."""
    rated = min(max(rated, 0), MOST_POINTS)
    if rated >= MAXIMUM:
        return 1.0 if rated == MOST_POINTS else LEAST_MAXIMUM + (1.0 - LEAST_MAXIMUM) * log(rated / MAXIMUM, RATIO)
    (low, least), (high, most) = next(pair for pair in pairwise(ANCHORS) if rated <= pair[1][0])
    return round(least + (most - least) * (rated - low) / (high - low), PLACES)


def tenths(importance: Fraction) -> float:
    """Tenths from 0 to 10, with one decimal."""
    return round(importance * 10, 1)


def of_tenths(rated: float) -> Fraction:
    """The fraction for tenths; values below 0 count as 0, values above 10 as 10."""
    return min(max(rated, 0.0), 10.0) / 10


def band(rated: int) -> Band:
    """The band of these points."""
    return next((name for most, name in BANDS if rated <= most), "maximum")
