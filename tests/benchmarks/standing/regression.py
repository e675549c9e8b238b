"""Trains the linear models that ship with `offline`: logistic regression over hashed features, with numpy."""

import base64
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from agents.models.offline.rules.engine.linear_model import LinearModel

RIDGE: Final = 1e-5
STEPS_OF_DESCENT: Final = 300
RATE: Final = 0.3
MAX_WEIGHT: Final = 127  # a weight is a signed byte
Array = NDArray[np.float64]


class Row(NamedTuple):
    places: NDArray[np.int64]
    target: int
    weight: float
    topic: str


class Rows:
    """Features of sentences as a sparse matrix of `dimension` columns, each row of length 1."""

    def __init__(self, rows: Sequence[Row], dimension: int) -> None:
        self._dimension = dimension
        lengths = np.array([len(each.places) for each in rows])
        self._count = len(rows)
        self._row = np.repeat(np.arange(len(rows)), lengths)
        self._column = np.concatenate([each.places for each in rows])
        self._value = np.repeat(1 / np.sqrt(np.maximum(lengths, 1)), lengths)

    def times(self, weights: Array) -> Array:
        given = ((self._value * weights[self._column, k]) for k in range(weights.shape[1]))
        return np.stack([np.bincount(self._row, each, self._count) for each in given], axis=1)

    def back(self, slopes: Array) -> Array:
        given = ((self._value * slopes[self._row, k]) for k in range(slopes.shape[1]))
        return np.stack([np.bincount(self._column, each, self._dimension) for each in given], axis=1)


def probabilities(rows: Rows, weights: Array, bias: Array) -> Array:
    """`(n, 1 + classes)`: of none, then of each class."""
    odds = np.exp(rows.times(weights) + bias)
    each = np.concatenate([np.ones((len(odds), 1)), odds], axis=1)
    return np.asarray(each / each.sum(axis=1, keepdims=True))


def trained(rows: Sequence[Row], classes: int, dimension: int, ridge: float = RIDGE) -> tuple[Array, Array]:
    """Weights `(dimension, classes)` and bias by logistic regression with a ridge; full batches by Adam, so each run is the same.
    A target is the number of a class, from 1, or 0."""
    matrix, weights, bias = Rows(rows, dimension), np.zeros((dimension, classes)), np.full(classes, -2.0)
    target = np.eye(classes + 1)[[each.target for each in rows]][:, 1:]
    share = np.array([each.weight for each in rows])
    share /= share.sum()
    first: list[Array] = [np.zeros_like(weights), np.zeros_like(bias)]
    second: list[Array] = [np.zeros_like(weights), np.zeros_like(bias)]
    for step in range(1, STEPS_OF_DESCENT + 1):
        slopes = (probabilities(matrix, weights, bias)[:, 1:] - target) * share[:, None]
        rate = RATE * (1 - step / (STEPS_OF_DESCENT + 1))
        for at, (of, slope) in enumerate(
            ((weights, matrix.back(slopes) + ridge * weights), (bias, slopes.sum(axis=0)))
        ):
            first[at] = 0.9 * first[at] + 0.1 * slope
            second[at] = 0.999 * second[at] + 0.001 * slope**2
            of -= rate * first[at] / (1 - 0.9**step) / (np.sqrt(second[at] / (1 - 0.999**step)) + 1e-8)
    return weights, bias


def quantised(weights: Array, bias: Array, trained_on: str) -> LinearModel:
    scale = float(np.abs(weights).max()) / MAX_WEIGHT
    steps = np.round(weights / scale).astype(np.int8)
    return LinearModel(trained_on, scale, tuple(map(float, bias)), steps.T.tobytes())


def encoded(made: LinearModel) -> bytes:
    named = msgspec.structs.asdict(made) | {"weights": base64.b64encode(made.weights).decode()}
    return msgspec.json.format(msgspec.json.encode(named)) + b"\n"
