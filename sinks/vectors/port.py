"""The port of the vector index and its types. Qdrant implements it (`qdrant.py`), and a fake in tests."""

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

STORED = np.dtype("<f4")  # little-endian float32, as in the embeddings table


class PointsRefused(Retryable):
    """The index refuses some of these points as invalid: a retry does not help."""


class Point(Struct, frozen=True, kw_only=True):
    """A memory in the index: its vector, and the payload that searches filter by or show without PostgreSQL."""

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
        """The point of a memory. `kinds` includes the primary kind, so that one filter covers all."""
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
    """The vector index. Every method raises Retryable when the index is unavailable. Writes are visible when they return."""

    @property
    def embedding_model(self) -> str:
        """The model of the index's vectors; vectors of another model do not compare with them."""

    async def ensure_collection(self) -> None:
        """Creates missing parts of the collection. Raises Misconfigured if it has another dimension or model, or is
        incomplete."""

    async def exists(self) -> bool:
        """Whether the collection exists."""

    async def recreate(self) -> None:
        """Empties the collection for vectors of its model; it counts as incomplete until `complete` is called."""

    async def complete(self) -> None:
        """Marks the collection as complete: it has every memory."""

    async def drop_collection(self) -> None:
        """Deletes the collection; does nothing if it does not exist."""

    async def neighbours(self, namespace: str, vector: Vector, *, min_score: float, limit: int) -> list[Neighbour]:
        """Active memories of one namespace with a cosine of `min_score` or above, nearest first. Raises as `search` does."""

    async def search(
        self,
        vector: Vector,
        *,
        namespaces: Collection[str],
        filters: Filters = LIVE,
        limit: int = 10,
        min_score: float | None = None,
    ) -> list[Neighbour]:
        """Memories of any of the namespaces that pass the filters, nearest first. Raises Retryable while the collection is
        incomplete or has vectors of another model."""

    async def upsert(self, points: Sequence[Point]) -> None:
        """Writes points, replacing those of the same memories. Raises PointsRefused for invalid points, and Retryable."""

    async def delete(self, memory_ids: Collection[str]) -> None:
        """Deletes points; unknown ids are ignored. Raises as `upsert` does."""

    async def count(self, namespace: str | None = None) -> int:
        """The number of points, of any status."""

    def ids(self, *, page: int = 1_000) -> AsyncIterator[list[tuple[str, str]]]:
        """(namespace, memory_id) of every point, in pages."""


def to_bytes(vector: Vector) -> bytes:
    return vector.astype(STORED).tobytes()


def from_bytes(data: bytes) -> Vector:
    return np.frombuffer(data, dtype=STORED).astype(np.float32)
