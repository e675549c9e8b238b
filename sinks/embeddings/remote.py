"""An embedder behind an HTTP endpoint: texts in batches, and no vector that was not checked."""

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from schemas.errors import Misconfigured, Rejected
from sinks.embeddings.endpoint import Endpoint, TooLarge
from sinks.embeddings.port import unit_rows
from sinks.embeddings.protocols import Dialect, Row

BATCH: Final = 32  # texts a request: what Text Embeddings Inference takes unless told otherwise; others take more
MOST_CHARS: Final = 8_000  # about 2,000 tokens of English; the rest of a text is cut off
LEAST_CHARS: Final = 16  # a text refused at this length is refused for good
BLANK: Final = "(nothing)"  # for texts without a word, which several servers refuse
PROBE: Final = "is anybody there?"


class RemoteEmbedder:
    """Vectors of `model`, of `dimension` numbers; begin with `reached`, which asks for one.

    A text that the model refuses as too long is halved until it fits, by itself, so that it has the same vector whatever it
    is embedded with. `asked_dimension` is sent along: the endpoint shortens its vectors to it.
    """

    def __init__(
        self, endpoint: Endpoint, dialect: Dialect, model: str, dimension: int, asked_dimension: int | None = None
    ) -> None:
        self.model = dialect.recorded(model)
        self.dimension = dimension
        self._endpoint = endpoint
        self._dialect = dialect
        self._name = model
        self._asked_dimension = asked_dimension

    @classmethod
    async def reached(cls, endpoint: Endpoint, dialect: Dialect, model: str, dimension: int | None = None) -> Self:
        """Of vectors shortened to `dimension`, or as long as the model makes them.

        Raises Retryable while nobody answers, Misconfigured when what answers does not embed.
        """
        try:
            rows = await ask(endpoint, dialect, model, [PROBE], dimension)
            embedder = cls(endpoint, dialect, model, dimension or len(rows[0]), dimension)
            embedder._checked(rows)
        except Rejected as exc:
            raise Misconfigured(f"{model!r} at {endpoint.where} cannot be used as an embedder: {exc.detail}") from exc
        return embedder

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder. Raises Retryable, Misconfigured when the key or the dimension is not right any more, and Rejected
        `unembeddable` for a text that the endpoint refuses or has no direction for."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for start in range(0, len(texts), BATCH):
            batch = [text[:MOST_CHARS] if text.strip() else BLANK for text in texts[start : start + BATCH]]
            vectors[start : start + len(batch)] = self._checked(await self._rows(batch))
        return vectors

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """As texts: what a model behind an endpoint wants before its questions is not known."""
        return await self.embed(questions)

    async def _rows(self, texts: list[str]) -> list[Row]:
        try:
            return await ask(self._endpoint, self._dialect, self._name, texts, self._asked_dimension)
        except TooLarge:
            if len(texts) > 1:
                half = len(texts) // 2
                return [*await self._rows(texts[:half]), *await self._rows(texts[half:])]
            if len(texts[0]) <= LEAST_CHARS:
                raise
            return await self._rows([texts[0][: len(texts[0]) // 2]])

    def _checked(self, rows: list[Row]) -> NDArray[np.float32]:
        if wrong := {len(row) for row in rows} - {self.dimension}:
            raise Misconfigured(
                f"{self.model!r} at {self._endpoint.where} makes vectors of dimension {min(wrong)}, not {self.dimension}: "
                "name the model that does, or set MEMSTREAM_EMBEDDER_DIMENSION and run `memstream reindex`"
            )
        vectors = np.array(rows, np.float64)  # null becomes NaN
        lengths = np.linalg.norm(vectors, axis=1)
        if not (np.isfinite(lengths) & (lengths > 0.0)).all():
            raise Rejected("unembeddable", f"{self.model!r} gave a vector without a direction (zero, or no number)")
        return unit_rows(vectors)


async def ask(
    endpoint: Endpoint, dialect: Dialect, model: str, texts: Sequence[str], dimension: int | None
) -> list[Row]:
    """A row for each text, in their order. Raises as Endpoint.post does."""

    def read(answer: object) -> list[Row]:
        rows = dialect.rows(answer)
        if len(rows) != len(texts):
            raise ValueError(f"{len(rows)} vectors for {len(texts)} texts")
        return rows

    return await endpoint.post(dialect.path, dialect.asked(model, texts, dimension), read)
