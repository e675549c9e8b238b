"""The protocols of reranking endpoints as a table: request fields, and the place of scores in an answer."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

Body: TypeAlias = dict[str, Any]


class Dialect(Struct, frozen=True, kw_only=True):
    """`documents` names the texts in a request. An answer is a list (under the name `results` unless that is empty) of the
    texts' indexes with their `score`. One request has at most `batch` texts."""

    path: str
    base_url: str | None
    documents: str = "documents"
    results: str = "results"
    score: str = "relevance_score"
    batch: int = 1_000
    extra: Mapping[str, object] = {}

    def request(self, model: str | None, query: str, texts: Sequence[str]) -> Body:
        named = {} if model is None else {"model": model}
        return {**named, "query": query, self.documents: list(texts), **self.extra}

    def scores(self, answer: object, texts: int) -> list[float]:
        """The scores in the order of the texts. Raises ValueError for an answer of another shape."""
        rows = msgspec.convert(answer, dict[str, Any]).get(self.results) if self.results else answer
        found = {
            row["index"]: row.get(self.score) for row in msgspec.convert(rows, list[dict[str, Any]]) if "index" in row
        }
        if found.keys() != set(range(texts)):
            raise ValueError("the indexes in the response do not match the texts")
        scores = msgspec.convert([found[index] for index in range(texts)], list[float])
        if not all(map(math.isfinite, scores)):
            raise ValueError("a score is not a number")
        return scores


DIALECTS: Final[Mapping[str, Dialect]] = {
    # The default limit of Text Embeddings Inference is 32 texts.
    "tei": Dialect(
        path="/rerank",
        base_url=None,
        documents="texts",
        results="",
        score="score",
        batch=32,
        extra={"truncate": True},
    ),
    "cohere": Dialect(path="/v2/rerank", base_url="https://api.cohere.com"),
    "jina": Dialect(path="/v1/rerank", base_url="https://api.jina.ai", extra={"return_documents": False}),
    "voyage": Dialect(path="/v1/rerank", base_url="https://api.voyageai.com", results="data"),
}
