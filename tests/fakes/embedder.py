"""Embedders without a model: texts that share words are close. Deterministic."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schemas.errors import Rejected
from sinks.embeddings.port import unit_rows

WORD = re.compile(r"\w+")


class FakeEmbedder:
    """Vectors of hashed words: the cosine of two texts grows with the share of words in common."""

    model = "fake-word-hashes"

    def __init__(self, dimension: int = 384) -> None:
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return unit_rows(np.stack([self._bag(text) for text in texts]))

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return await self.embed(questions)

    def _bag(self, text: str) -> NDArray[np.float32]:
        # A text without words counts as the empty word: a zero vector has no direction.
        words = WORD.findall(text.lower()) or [""]
        bag: NDArray[np.float32] = np.sum([self._direction(word) for word in words], axis=0, dtype=np.float32)
        return bag

    def _direction(self, word: str) -> NDArray[np.float32]:
        """A pseudo-random direction, seeded by the word alone."""
        seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
        return np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)


class RecordingEmbedder(FakeEmbedder):
    """`embedded_texts` has the texts of all calls, in order, `batches` those of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded_texts: list[str] = []
        self.batches: list[set[str]] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded_texts += texts
        self.batches.append(set(texts))
        return await super().embed(texts)


class PickyEmbedder(RecordingEmbedder):
    """Rejects calls with a text that has one of the words."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self.words = words

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any(word in text for text in texts for word in self.words):
            raise Rejected("unembeddable", "too long")
        return await super().embed(texts)


class SeparatingEmbedder(FakeEmbedder):
    """Records which texts were `stored` and which were `questions`."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: list[str] = []
        self.questions: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.stored += texts
        return await super().embed(texts)

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        self.questions += questions
        return await super().embed(questions)
