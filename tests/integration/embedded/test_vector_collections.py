"""Large collections of the embedded vector server."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as edge

from deploy.embedded.vectors.collections import OPTIMIZE_AFTER_POINTS, Collections

SIZE = 1_024  # so that as many points are above 10 MB, from which on the engine would build a graph


@pytest.fixture
def collections(tmp_path: Path) -> Iterator[Collections]:
    with closing(Collections(tmp_path)) as opened:
        yield opened


def test_nearest_neighbour_search_stays_exact_for_large_collections(collections: Collections):
    collections.create("many", SIZE, "Cosine")
    collection, chosen = collections.get("many"), np.random.default_rng(3)
    vectors = chosen.standard_normal((OPTIMIZE_AFTER_POINTS, SIZE)).astype(np.float32)
    for start in range(0, OPTIMIZE_AFTER_POINTS, 1_000):
        page = [edge.Point(number, vectors[number].tolist(), {}) for number in range(start, start + 1_000)]
        collection.update(edge.UpdateOperation.upsert_points(page), len(page))
    collections.flush()
    query = chosen.standard_normal(SIZE).astype(np.float32)
    found = collection.shard.query(edge.QueryRequest(limit=20, query=edge.Query.Nearest(query.tolist())))
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
    assert [each.id for each in found] == np.argsort(-cosines)[:20].tolist()
    assert collection.shard.info().indexed_vectors_count == 0
