"""An embedder that keeps what it is sent."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.fake import FakeEmbedder


class ListeningEmbedder(FakeEmbedder):
    """`heard` are the texts of all calls, in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.heard += texts
        return await super().embed(texts)
