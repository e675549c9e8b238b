"""A linear model over hashed features of a sentence, as shipped: small, and fast without numpy."""

import math
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Self
from zlib import crc32

import msgspec
from msgspec import Struct


class LinearModel(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A logistic regression for some classes against the rest. `weights` has one signed byte per feature for each class in turn,
    in units of `scale`. `trained_on` is the hash of what it was trained on."""

    trained_on: str
    scale: float
    bias: tuple[float, ...]
    weights: bytes

    @classmethod
    def load(cls, file: Path) -> Self:
        return msgspec.json.decode(file.read_bytes(), type=cls)

    @cached_property
    def dimension(self) -> int:
        """The number of features that are told apart."""
        return len(self.weights) // len(self.bias)

    @cached_property
    def columns(self) -> tuple[memoryview, ...]:
        whole = memoryview(self.weights).cast("b")
        return tuple(whole[start : start + self.dimension] for start in range(0, len(whole), self.dimension))

    def probabilities(self, features: Iterable[str]) -> tuple[float, ...]:
        """The probability of each class, from 0 to 1. The rest to 1 is the probability of none."""
        places = indices(features, self.dimension)
        weight = self.scale / math.sqrt(max(1, len(places)))
        odds = [
            math.exp(bias + weight * sum(column[place] for place in places))
            for bias, column in zip(self.bias, self.columns, strict=True)
        ]
        return tuple(each / (1 + sum(odds)) for each in odds)


def indices(features: Iterable[str], dimension: int) -> set[int]:
    return {crc32(each.encode()) % dimension for each in features}
