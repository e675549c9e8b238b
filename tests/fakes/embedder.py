"""Embedders for tests of their callers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.fake import FakeEmbedder


class RecordingEmbedder(FakeEmbedder):
    """`embedded_texts` has the texts of all calls, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded_texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded_texts += texts
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
