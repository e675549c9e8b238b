"""Times the steps of a curator by wrapping its ports; the rest is the curator's own time."""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from schemas.kafka.records import Outgoing
from sinks.classification.port import Comparer, Pair, Relation
from sinks.embeddings.port import Embedder
from sinks.outbox.projector import Projector
from sinks.postgres.connection import Connection
from sinks.vectors.port import Neighbour, Point, Vector
from sinks.vectors.qdrant import Vectors


class Spent:
    """Seconds by step; a step that is entered again while it goes on counts once."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._entered: Counter[str] = Counter()
        self._since: dict[str, float] = {}

    @contextmanager
    def on(self, step: str) -> Iterator[None]:
        if not self._entered[step]:
            self._since[step] = time.perf_counter()
        self._entered[step] += 1
        try:
            yield
        finally:
            self._entered[step] -= 1
            if not self._entered[step]:
                self.seconds[step] += time.perf_counter() - self._since[step]


class Cpu:
    """CPU seconds of processes with their children, by name: unlike the clock they do not count what else the machine does."""

    def __init__(self, pids: dict[str, int]) -> None:
        self._pids = pids
        self._begun: dict[str, float] = {}

    def begin(self) -> None:
        self._begun = {name: own_and_childrens(pid) for name, pid in self._pids.items()}

    def seconds(self) -> dict[str, float]:
        """Since it began."""
        return {name: own_and_childrens(pid) - self._begun[name] for name, pid in self._pids.items()}


def own_and_childrens(pid: int) -> float:
    """Returns CPU seconds with children, except for the benchmark itself, whose children are the servers."""
    process = psutil.Process(pid)
    children = [] if pid == os.getpid() else process.children(recursive=True)
    times = [each.cpu_times() for each in (process, *children)]
    return float(sum(each.user + each.system for each in times))


class TimedComparer:
    """Implements sinks.classification.port.Comparer."""

    def __init__(self, comparer: Comparer, spent: Spent) -> None:
        self._comparer = comparer
        self._spent = spent

    async def compare(self, pairs: Sequence[Pair]) -> list[Relation]:
        with self._spent.on("compare"):
            return await self._comparer.compare(pairs)


class TimedEmbedder:
    """Implements sinks.embeddings.port.Embedder."""

    def __init__(self, embedder: Embedder, spent: Spent) -> None:
        self._embedder = embedder
        self._spent = spent

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._spent.on("embed"):
            return await self._embedder.embed(texts)

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        with self._spent.on("embed"):
            return await self._embedder.embed_questions(questions)


class TimedVectors(Vectors):
    """`neighbours` apart from what is written."""

    def __init__(self, client: Any, spent: Spent, **settings: Any) -> None:
        super().__init__(client, **settings)
        self._spent = spent

    async def neighbours(self, namespace: str, vector: Vector, *, min_score: float, limit: int) -> list[Neighbour]:
        with self._spent.on("neighbours"):
            return await super().neighbours(namespace, vector, min_score=min_score, limit=limit)

    async def upsert(self, points: Sequence[Point]) -> None:
        with self._spent.on("project_to_qdrant"):
            await super().upsert(points)

    async def delete(self, memory_ids: Collection[str]) -> None:
        with self._spent.on("project_to_qdrant"):
            await super().delete(memory_ids)


class TimedProjector(Projector):
    """Both times: what is pending before a decision, and what it wrote."""

    def __init__(self, spent: Spent, *parts: Any) -> None:
        super().__init__(*parts)
        self._spent = spent

    async def project(self, connection: Connection, namespace: str) -> int:
        with self._spent.on("project"):
            return await super().project(connection, namespace)

    async def project_now(self, namespace: str) -> int:
        with self._spent.on("project"):
            return await super().project_now(namespace)


class Discarding:
    """A publisher that drops: the brokers' part is not measured here."""

    async def publish(self, records: Sequence[Outgoing]) -> None:
        """At once."""
