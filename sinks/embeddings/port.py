"""The port of embedding models."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity."""

    @property
    def model(self) -> str:
        """The model's name. Vectors of models with different names do not compare."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embeds texts to store and to compare with each other.

        Returns shape (len(texts), dimension), rows unit-normalised and in the order of the texts. A text's vector does not
        depend on the other texts (up to float rounding). Raises Retryable, Misconfigured, and Rejected for a text that
        cannot be embedded.
        """

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Embeds questions to compare with texts of `embed`; some models need another prefix for them. Otherwise as `embed`."""


def unit_rows(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Scales each row to length one. No row may be zero."""
    scaled: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return scaled
