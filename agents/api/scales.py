"""Importance as callers say it: on the scale they choose."""

from typing import Literal, TypeAlias

from schemas import importance
from schemas.policies import Fraction

Scale: TypeAlias = Literal["fraction", "tenths", "points"]

MOST: dict[Scale, float] = {"fraction": 1.0, "tenths": 10.0, "points": float("inf")}


def fraction(said: float, scale: Scale) -> Fraction:
    """From 0 to 1; points above 10,000 count as many."""
    if scale == "tenths":
        return importance.of_tenths(said)
    return importance.of_points(round(said)) if scale == "points" else said
