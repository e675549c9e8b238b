"""A map of a namespace's memories: their vectors on the plane in which they differ most. Pure, and the same each time."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sinks.vectors.port import Point

FEWEST = 3  # two points lie on a line whatever they say


class PlacedMemory(Struct, frozen=True, kw_only=True):
    """A live memory at `x` and `y`, from -1 to 1: near to those of a similar meaning, as far as a plane can show it."""

    memory_id: str
    text: str
    kind: str
    importance: float
    x: float
    y: float


class MemoryMap(Struct, frozen=True, kw_only=True):
    """The most important memories of a namespace on a plane. `explained` is the share of what tells their vectors apart that the
    two axes show. `live`: memories that are looked at; those without a vector of the current embedder have no place, and
    fewer than three have none at all."""

    namespace: str
    live: int
    memories: tuple[PlacedMemory, ...]
    explained: float


def memory_map(namespace: str, live: int, points: Sequence[Point]) -> MemoryMap:
    if len(points) < FEWEST:
        return MemoryMap(namespace=namespace, live=live, memories=(), explained=0.0)
    places, explained = projected(np.asarray([point.vector for point in points], dtype=np.float64))
    placed = (at(point, place) for point, place in zip(points, places, strict=True))
    return MemoryMap(namespace=namespace, live=live, memories=tuple(placed), explained=round(explained, 4))


def at(point: Point, place: NDArray[np.float64]) -> PlacedMemory:
    x, y = (round(float(value), 4) for value in place)
    return PlacedMemory(
        memory_id=point.memory_id, text=point.text, kind=point.kind, importance=point.importance, x=x, y=y
    )


def projected(vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """The first two principal components of `(n, dim)` as `(n, 2)` from -1 to 1, and the share of the variance that they hold.

    Their signs are those by which the largest entry of each axis is positive: an analysis of components leaves them open.
    """
    centred = vectors - vectors.mean(axis=0)
    _, strengths, axes = np.linalg.svd(centred, full_matrices=False)
    first = axes[:2]
    first = first * np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)])[:, None]
    places = centred @ first.T
    variance = float((strengths**2).sum())
    farthest = float(np.abs(places).max())
    explained = float((strengths[:2] ** 2).sum()) / variance if variance else 0.0
    return (places / farthest if farthest else places), explained
