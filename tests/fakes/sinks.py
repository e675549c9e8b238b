"""A vector index and a broker in memory, with the real contracts and failures on demand."""

from collections.abc import AsyncIterator, Collection, Sequence

import numpy as np

from schemas.errors import Retryable
from schemas.kafka.records import Outgoing
from schemas.retrieval.searches import LIVE, Filters
from sinks.vectors.port import Neighbour, Point, Vector


class Fuse:
    """Raises at the `at`-th step, counted from 1; never with 0. With `after`, that step takes effect first."""

    def __init__(self, at: int = 0, *, after: bool = False) -> None:
        self.at = at
        self.after = after
        self.steps = 0

    def before_step(self) -> None:
        self.steps += 1
        if self.steps == self.at and not self.after:
            raise Retryable(f"the fuse blew before step {self.at}")

    def after_step(self) -> None:
        if self.steps == self.at and self.after:
            raise Retryable(f"the fuse blew after step {self.at}")


class FakeVectors:
    """A VectorIndex in a dictionary."""

    def __init__(self, *, embedding_model: str = "fake-word-hashes", fuse: Fuse | None = None) -> None:
        self.points: dict[str, Point] = {}
        self._embedding_model = embedding_model
        self.fuse = fuse or Fuse()

    @property
    def embedding_model(self) -> str:
        return self._embedding_model

    async def ensure_collection(self) -> None:
        """The collection always exists."""

    async def exists(self) -> bool:
        return True

    async def recreate(self) -> None:
        self.points.clear()

    async def complete(self) -> None:
        """The collection always counts as complete."""

    async def drop_collection(self) -> None:
        self.points.clear()

    async def neighbours(self, namespace: str, vector: Vector, *, min_score: float, limit: int) -> list[Neighbour]:
        return await self.search(vector, namespaces=(namespace,), min_score=min_score, limit=limit)

    async def search(
        self,
        vector: Vector,
        *,
        namespaces: Collection[str],
        filters: Filters = LIVE,
        limit: int = 10,
        min_score: float | None = None,
    ) -> list[Neighbour]:
        self.fuse.before_step()
        near = [
            Neighbour(point.memory_id, cosine(vector, point.vector))
            for point in self.points.values()
            if point.namespace in namespaces and filters.accepts(point)
        ]
        self.fuse.after_step()
        kept = [each for each in near if min_score is None or each.score >= min_score]
        return sorted(kept, key=lambda each: -each.score)[:limit]

    async def upsert(self, points: Sequence[Point]) -> None:
        self.fuse.before_step()
        self.points |= {point.memory_id: point for point in points}
        self.fuse.after_step()

    async def delete(self, memory_ids: Collection[str]) -> None:
        self.fuse.before_step()
        for memory_id in memory_ids:
            self.points.pop(memory_id, None)
        self.fuse.after_step()

    async def count(self, namespace: str | None = None) -> int:
        return sum(namespace in (None, point.namespace) for point in self.points.values())

    async def ids(self, *, page: int = 1_000) -> AsyncIterator[list[tuple[str, str]]]:
        held = sorted((point.memory_id, point.namespace) for point in self.points.values())
        for start in range(0, len(held), page):
            yield [(namespace, memory_id) for memory_id, namespace in held[start : start + page]]


class FakePublisher:
    """A Publisher that keeps its records in order. A fuse lets a part of a batch through before it raises."""

    def __init__(self, fuse: Fuse | None = None) -> None:
        self.records: list[Outgoing] = []
        self._fuse = fuse or Fuse()

    async def publish(self, records: Sequence[Outgoing]) -> None:
        for record in records:
            self._fuse.before_step()
            self.records.append(record)
            self._fuse.after_step()

    def on(self, topic: str) -> list[Outgoing]:
        return [record for record in self.records if record.topic == topic]


def cosine(one: Vector, other: Vector) -> float:
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
