"""The port of the vector index, and what goes through it. Qdrant stands behind it (`qdrant.py`), or a fake in tests."""

from collections.abc import AsyncIterator, Collection, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from schemas.conversations.messages import EARLIEST
from schemas.errors import Retryable
from schemas.memories.memories import Memory, Status
from schemas.retrieval.searches import LIVE, Filters

Vector: TypeAlias = NDArray[np.float32]

STORED = np.dtype("<f4")  # float32, little-endian: what the embeddings table holds


class PointsRefused(Retryable):
    """The index is up and takes some of these points for wrong: to send the same ones again mends nothing."""


class Point(Struct, frozen=True, kw_only=True):
    """A memory in the index: its vector and what searches filter or show without asking Postgres."""

    memory_id: str
    namespace: str
    kind: str
    kinds: tuple[str, ...]
    status: Status
    text: str
    importance: float
    vector: Vector
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    language: str | None = None
    pinned: bool = False
    created_at: datetime = EARLIEST
    event_time: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @classmethod
    def of(cls, memory: Memory, vector: Vector) -> "Point":
        """`kinds` holds the primary kind as well, so that one filter matches any."""
        return cls(
            memory_id=memory.memory_id,
            namespace=memory.namespace,
            kind=memory.kind,
            kinds=tuple(dict.fromkeys((memory.kind, *memory.kinds))),
            status=memory.status,
            text=memory.text,
            importance=memory.importance,
            vector=vector,
            tags=memory.tags,
            confidence=memory.confidence,
            language=memory.language,
            pinned=memory.pinned,
            created_at=memory.created_at,
            event_time=memory.event_time,
            valid_from=memory.valid_from,
            valid_until=memory.valid_until,
        )


class Neighbour(Struct, frozen=True):
    """A memory near a vector; `score` is the cosine."""

    memory_id: str
    score: float


class VectorIndex(Protocol):
    """Every method raises Retryable when the index cannot answer now. Writes are visible when they return."""

    @property
    def embedding_model(self) -> str:
        """The model whose vectors the index holds; vectors of another cannot be compared with them."""

    async def ensure_collection(self) -> None:
        """Creates what is missing. Raises Misconfigured when what is there is of another dimension or model, or not whole."""

    async def exists(self) -> bool:
        """Whether there is a collection at all."""

    async def begin_anew(self) -> None:
        """Makes it empty, for vectors of its model; it is not whole until it is said to be `complete`."""

    async def complete(self) -> None:
        """Every memory is in it."""

    async def drop_collection(self) -> None:
        """Removes every point; nothing if the collection is not there."""

    async def neighbours(self, namespace: str, vector: Vector, *, min_score: float, limit: int) -> list[Neighbour]:
        """Active memories of one namespace at `min_score` or above, nearest first. Retryable while not every memory is in it."""

    async def search(
        self,
        vector: Vector,
        *,
        namespaces: Collection[str],
        filters: Filters = LIVE,
        limit: int = 10,
        min_score: float | None = None,
    ) -> list[Neighbour]:
        """Memories of any of the namespaces that the filters accept, nearest first."""

    async def upsert(self, points: Sequence[Point]) -> None:
        """Writes the points, replacing those of the same memory. Raises PointsRefused when some are wrong, and Retryable."""

    async def delete(self, memory_ids: Collection[str]) -> None:
        """Removes the points; those that are not there do not matter."""

    async def count(self, namespace: str | None = None) -> int:
        """The number of points, of any status."""

    def ids(self, *, page: int = 1_000) -> AsyncIterator[list[tuple[str, str]]]:
        """(namespace, memory_id) of every point, in pages."""


def to_bytes(vector: Vector) -> bytes:
    return vector.astype(STORED).tobytes()


def from_bytes(data: bytes) -> Vector:
    return np.frombuffer(data, dtype=STORED).astype(np.float32)
