"""An embedder behind an HTTP endpoint: sends texts in batches and checks every vector."""

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from schemas.counts import counted
from schemas.errors import Misconfigured, Rejected
from sinks.embeddings.endpoint import Endpoint, TooLarge
from sinks.embeddings.port import unit_rows
from sinks.embeddings.protocols import Dialect, Row

BATCH: Final = 32  # texts per request: the default limit of Text Embeddings Inference; other servers accept more
MAX_CHARS: Final = 8_000  # about 2,000 tokens of English; longer texts are truncated
MIN_CHARS: Final = 16  # a text is not shortened further
BLANK_TEXT: Final = "(nothing)"  # replaces blank texts, which several servers refuse
PROBE: Final = "is the server available?"


class RemoteEmbedder:
    """Vectors of `model` with `dimension` numbers. Construct with `connect`, which probes the endpoint.

    A text that the model refuses as too long is halved until it fits, separately from its batch, so that its vector does not
    depend on other texts. `requested_dimension` makes the endpoint shorten its vectors.
    """

    def __init__(
        self, endpoint: Endpoint, dialect: Dialect, model: str, dimension: int, requested_dimension: int | None = None
    ) -> None:
        self.model = dialect.canonical_model(model)
        self.dimension = dimension
        self._endpoint = endpoint
        self._dialect = dialect
        self._name = model
        self._requested_dimension = requested_dimension

    @classmethod
    async def connect(cls, endpoint: Endpoint, dialect: Dialect, model: str, dimension: int | None = None) -> Self:
        """Probes the endpoint and returns its embedder, with vectors shortened to `dimension`, or of the model's length if
        that is None.

        Raises Retryable while the endpoint does not answer, and Misconfigured if its answer is no vector.
        """
        try:
            rows = await request_rows(endpoint, dialect, model, [PROBE], dimension)
            embedder = cls(endpoint, dialect, model, dimension or len(rows[0]), dimension)
            embedder._checked(rows)
        except Rejected as exc:
            raise Misconfigured(f"{model!r} at {endpoint.where} cannot be used as an embedder: {exc.detail}") from exc
        return embedder

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder. Raises Retryable, Misconfigured if the key or the dimension became wrong, and Rejected
        `unembeddable` for a text that the endpoint refuses or returns a zero vector for."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), BATCH):
            batch = [text[:MAX_CHARS] if text.strip() else BLANK_TEXT for text in texts[start : start + BATCH]]
            vectors[start : start + len(batch)] = self._checked(await self._rows(batch))
        return vectors

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Embeds questions as texts: the prefix that a remote model needs is unknown."""
        return await self.embed(questions)

    async def _rows(self, texts: list[str]) -> list[Row]:
        try:
            return await request_rows(self._endpoint, self._dialect, self._name, texts, self._requested_dimension)
        except TooLarge:
            if len(texts) > 1:
                half = len(texts) // 2
                return [*await self._rows(texts[:half]), *await self._rows(texts[half:])]
            if len(texts[0]) <= MIN_CHARS:
                raise
            return await self._rows([texts[0][: len(texts[0]) // 2]])

    def _checked(self, rows: list[Row]) -> NDArray[np.float32]:
        if wrong := {len(row) for row in rows} - {self.dimension}:
            raise Misconfigured(
                f"{self.model!r} at {self._endpoint.where} makes vectors of dimension {min(wrong)}, not {self.dimension}: "
                "name the model that does, or set MEMSTREAM_EMBEDDER_DIMENSION and run `memstream reindex`"
            )
        vectors = np.array(rows, np.float64)  # null is NaN
        lengths = np.linalg.norm(vectors, axis=1)
        if not (np.isfinite(lengths) & (lengths > 0.0)).all():
            raise Rejected(
                "unembeddable", f"{self.model!r} returned a vector of zeros, or with values that are not numbers"
            )
        return unit_rows(vectors)


async def request_rows(
    endpoint: Endpoint, dialect: Dialect, model: str, texts: Sequence[str], dimension: int | None
) -> list[Row]:
    """One row per text, in order. Raises as Endpoint.post does."""

    def read(answer: object) -> list[Row]:
        rows = dialect.rows(answer)
        if len(rows) != len(texts):
            raise ValueError(f"{counted(len(rows), 'vectors')} for {counted(len(texts), 'texts')}")
        return rows

    return await endpoint.post(dialect.path, dialect.request_body(model, texts, dimension), read)
