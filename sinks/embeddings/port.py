"""What the rest of memstream may expect of any embedding model."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors whose dot product is their cosine similarity."""

    @property
    def model(self) -> str:
        """Name of the model; vectors of different names must never be compared."""

    @property
    def dimension(self) -> int:
        """Length of every vector."""

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts to store and to compare with each other.

        Shape (len(texts), dimension), rows unit-normalised and in the order of the texts. The same text gives the same vector
        (up to float rounding), whatever it is embedded with. Raises Retryable, Misconfigured, and Rejected for a text that
        cannot be embedded.
        """

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """Questions to compare with texts that `embed` has made vectors of; otherwise as `embed`. Some models read them
        differently."""


def unit_rows(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Scales each row to length one. No row may be zero."""
    scaled: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return scaled
