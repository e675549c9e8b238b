"""The vectors of texts and questions that were embedded lately: a question that is asked again costs nothing."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.port import Embedder

Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]]

MOST: Final = 4_096  # of 384 dimensions: 6 MB


class Remembering:
    """Implements Embedder. The latest `most` texts are known by their digests; none of what they say is kept."""

    def __init__(self, embedder: Embedder, *, most: int = MOST) -> None:
        self.model = embedder.model
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._most = most
        self._known: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return await self._remembered(texts, self._embedder.embed, b"text")

    async def embed_questions(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        return await self._remembered(questions, self._embedder.embed_questions, b"question")

    async def _remembered(self, texts: Sequence[str], embed: Embed, kind: bytes) -> NDArray[np.float32]:
        digests = [blake2b(text.encode(errors="surrogatepass"), digest_size=16, person=kind).digest() for text in texts]
        found = {digest: self._known[digest] for digest in digests if digest in self._known}
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in found}
        if missing:
            found |= zip(missing, await embed(list(missing.values())), strict=True)
        for digest in digests:
            self._known[digest] = found[digest]
            self._known.move_to_end(digest)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return np.array([found[digest] for digest in digests], np.float32).reshape(len(texts), self.dimension)
