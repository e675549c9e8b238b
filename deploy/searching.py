"""Search over the adapters that a process has open."""

from datetime import UTC, datetime

from agents.retrieval.search import Retrieval
from sinks.embeddings.port import Embedder
from sinks.lexical import FullText
from sinks.memories import Memories
from sinks.postgres import Pool
from sinks.vectors import VectorIndex


def retrieval(pool: Pool, embedder: Embedder, vectors: VectorIndex) -> Retrieval:
    return Retrieval(embedder, vectors, FullText(pool), Memories(pool), clock=lambda: datetime.now(UTC))
