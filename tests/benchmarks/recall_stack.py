"""The stores and the search of bench-recall: PostgreSQL, the vector server and MiniLM."""

import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct
from qdrant_client import AsyncQdrantClient

from agents.retrieval.ranking import DEFAULT_RANKING, Ranking
from agents.retrieval.scales import Scale, scale_of
from agents.retrieval.search import MemorySearch
from deploy.embedded.postgres.server import EmbeddedPostgres
from deploy.embedded.vectors.process import EmbeddedVectors
from schemas.memories.memories import Memory
from sinks.embeddings.onnx import OnnxEmbedder
from sinks.memories.lexical import FullText
from sinks.memories.reader import Memories
from sinks.postgres.connection import Pool, connect
from sinks.postgres.migrate import migrate
from sinks.vectors.qdrant import Vectors
from tests.embedders import packaged_embedder
from tests.memory_store import remember

NOW = datetime(2026, 11, 1, tzinfo=UTC)  # after everything in the sets was said


class Store(Struct, frozen=True):
    """Memories are put here; `retrieval` searches them, by other weights or another scale if asked."""

    pool: Pool
    vectors: Vectors
    embedder: OnnxEmbedder
    index_url: str

    async def put(self, memories: Sequence[Memory]) -> None:
        await remember(self.pool, memories, self.embedder, self.vectors)

    def retrieval(self, ranking: Ranking = DEFAULT_RANKING, scale: Scale | None = None) -> MemorySearch:
        return MemorySearch(
            self.embedder,
            self.vectors,
            FullText(self.pool),
            Memories(self.pool),
            clock=lambda: NOW,
            ranking=ranking,
            scale=scale or scale_of(self.embedder.model),
            timeout_s=60.0,
        )


@asynccontextmanager
async def store() -> AsyncIterator[Store]:
    with tempfile.TemporaryDirectory() as directory, closing(packaged_embedder()) as embedder:
        postgres, index = EmbeddedPostgres(Path(directory) / "postgres"), EmbeddedVectors(Path(directory) / "vectors")
        await postgres.start()
        await index.start()
        await migrate(postgres.dsn)
        pool = await connect(postgres.dsn)
        client = AsyncQdrantClient(url=index.url, timeout=60, check_compatibility=False)
        vectors = Vectors(client, dimension=embedder.dimension, embedding_model=embedder.model)
        try:
            await vectors.ensure_collection()
            yield Store(pool, vectors, embedder, index.url)
        finally:
            await client.close()
            await pool.close()
            await index.stop()
            await postgres.stop()
