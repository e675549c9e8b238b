"""A map of a namespace's memories: the first two principal components of their vectors. Pure and deterministic."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sinks.vectors.port import Point

MIN_POINTS = 3  # two points always lie on a line


class PlacedMemory(Struct, frozen=True, kw_only=True):
    """A live memory with coordinates `x` and `y` from -1 to 1. Memories of similar meaning are close to each other, as far
    as two dimensions allow."""

    memory_id: str
    text: str
    kind: str
    importance: float
    x: float
    y: float


class MemoryMap(Struct, frozen=True, kw_only=True):
    """The most important memories of a namespace in two dimensions. `explained` is the share of the vectors' variance that
    the two axes show. `live` is the number of memories considered; memories without a vector of the current embedding
    model are not placed. With fewer than three vectors, no memory is placed."""

    namespace: str
    live: int
    memories: tuple[PlacedMemory, ...]
    explained: float


def memory_map(namespace: str, live: int, points: Sequence[Point]) -> MemoryMap:
    if len(points) < MIN_POINTS:
        return MemoryMap(namespace=namespace, live=live, memories=(), explained=0.0)
    places, explained = project(np.asarray([point.vector for point in points], dtype=np.float64))
    placed = (placed_memory(point, place) for point, place in zip(points, places, strict=True))
    return MemoryMap(namespace=namespace, live=live, memories=tuple(placed), explained=round(explained, 4))


def placed_memory(point: Point, place: NDArray[np.float64]) -> PlacedMemory:
    x, y = (round(float(value), 4) for value in place)
    return PlacedMemory(
        memory_id=point.memory_id, text=point.text, kind=point.kind, importance=point.importance, x=x, y=y
    )


def project(vectors: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Projects vectors `(n, dim)` on their first two principal components: `(n, 2)` in -1 to 1, and the share of variance
    explained.

    The sign of a component is arbitrary; here the largest entry of each axis is positive.
    """
    centred = vectors - vectors.mean(axis=0)
    _, singular_values, axes = np.linalg.svd(centred, full_matrices=False)
    first = axes[:2]
    first = first * np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)])[:, None]
    places = centred @ first.T
    variance = float((singular_values**2).sum())
    largest = float(np.abs(places).max())
    explained = float((singular_values[:2] ** 2).sum()) / variance if variance else 0.0
    return (places / largest if largest else places), explained
