"""bench-serve writes its passages past the store: they equal those that the store would write."""

from contextlib import aclosing
from uuid import uuid4

from qdrant_client import AsyncQdrantClient

from deploy.embedded.stack import EmbeddedStack
from sinks.passages.store import row_of
from sinks.passages.vectors import PassageVectors
from sinks.postgres.connection import Pool
from tests.benchmarks.serve_passages import PASSAGE_COLUMNS, pages, seed_passages

SIZES = (("bench/a", 20), ("bench/b", 5))
DIMENSION = 8


async def test_seeded_passages_equal_those_of_the_store(pool: Pool, embedded_stack: EmbeddedStack):
    client = AsyncQdrantClient(url=embedded_stack.qdrant_url, check_compatibility=False)
    collection = f"seeded-{uuid4().hex[:8]}"
    vectors = PassageVectors(client, dimension=DIMENSION, embedding_model="made-up", collection=collection)
    async with aclosing(vectors):
        await vectors.ensure_collection()
        seeded = await seed_passages(pool, embedded_stack.qdrant_url, collection, DIMENSION, SIZES)
        points = {point_id async for page in vectors.ids() for _, point_id in page}
        await vectors.drop_collection()
    await client.close()

    expected = {str(row[0]): row for page in pages(SIZES) for row in (row_of(*each) for each in page.passages)}
    columns = (
        ", ".join(PASSAGE_COLUMNS)
        .replace("passage_id", "passage_id::text")
        .replace("terms", "array_to_string(terms, ' ')")
    )
    stored = {row[0]: tuple(row) for row in await pool.fetch(f"SELECT {columns} FROM passages")}
    assert seeded.passages == len(expected) >= 25
    assert stored == expected
    assert points == set(expected)
