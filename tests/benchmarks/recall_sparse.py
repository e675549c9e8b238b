"""BM25 of Qdrant's engine with sparse vectors and its inverse document frequencies."""

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol
from uuid import UUID

import qdrant_edge as edge

from schemas.memories.memories import Memory
from tests.benchmarks.recall_measures import LIMIT, ranked_at
from tests.benchmarks.recall_sets import Asked

NAME: Final = "words"
PAGE: Final = 500
WAYS: dict[str, dict[str, Any]] = {
    "Qdrant's BM25, english": {"language": "english"},
    "Qdrant's BM25, multilingual": {"tokenizer": edge.TokenizerType.Multilingual, "language": "english"},
}


class Words(Protocol):
    """qdrant_edge.Bm25."""

    def embed_query(self, text: str) -> edge.SparseVector: ...

    def embed_document(self, text: str) -> edge.SparseVector: ...


def by_sparse(way: str, sets: dict[str, Asked]) -> dict[str, dict[str, Any]]:
    """Returns the results of a method for each set, with the memories of all sets in one collection."""
    memories = [memory for question_set in sets.values() for memory in question_set.memories]
    plain = edge.Bm25(edge.Bm25Config(**WAYS[way]))
    words = statistics.fmean(len(plain.embed_document(memory.text).indices) for memory in memories)
    model = edge.Bm25(edge.Bm25Config(**WAYS[way], avg_len=words))
    with indexed(memories, model) as shard:
        return {
            name: ranked_at(
                (question, found(shard, model, question.namespace, question.text))
                for question in question_set.questions
            )
            for name, question_set in sets.items()
        }


@contextmanager
def indexed(memories: Sequence[Memory], model: Words) -> Iterator[edge.EdgeShard]:
    with tempfile.TemporaryDirectory() as directory:
        sparse = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)
        shard = edge.EdgeShard.create(directory, edge.EdgeConfig(sparse_vectors={NAME: sparse}))
        shard.update(edge.UpdateOperation.create_field_index("namespace", edge.PayloadSchemaType.Keyword))
        for start in range(0, len(memories), PAGE):
            points = [point(memory, model) for memory in memories[start : start + PAGE]]
            shard.update(edge.UpdateOperation.upsert_points(points))
        yield shard
        shard.close()


def point(memory: Memory, model: Words) -> edge.Point:
    words = model.embed_document(memory.text)
    return edge.Point(UUID(memory.memory_id), {NAME: words}, {"namespace": memory.namespace})


def found(shard: edge.EdgeShard, model: Words, namespace: str, text: str) -> list[str]:
    inside = edge.Filter(must=[edge.FieldCondition("namespace", match=edge.MatchValue(namespace))])
    nearest = edge.Query.Nearest(model.embed_query(text), NAME)
    return [str(each.id) for each in shard.query(edge.QueryRequest(limit=LIMIT, query=nearest, filter=inside))]
