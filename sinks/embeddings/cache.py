"""A cache of vectors: texts and questions that were embedded recently are not embedded again."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.port import Embedder

Vectors: TypeAlias = NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], Awaitable[Vectors]]

MAX_CACHED: Final = 4_096  # of 384 dimensions: 6 MB


class Call:
    """A running embedding call, with the number of callers that wait for it."""

    def __init__(self, vectors: asyncio.Future[Vectors]) -> None:
        self.vectors = vectors
        self.waiting = 0


class CachedEmbedder:
    """An Embedder that caches the vectors of the latest `most` texts by their digests. Texts are not kept."""

    def __init__(self, embedder: Embedder, *, most: int = MAX_CACHED) -> None:
        self.model = embedder.model
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._most = most
        self._known: OrderedDict[bytes, Vectors] = OrderedDict()
        self._under_way: dict[tuple[bytes, ...], Call] = {}

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
            vectors = await self._shared(tuple(missing), lambda: embed(list(missing.values())))
            found |= zip(missing, vectors, strict=True)
        for digest in digests:
            self._known[digest] = found[digest]
            self._known.move_to_end(digest)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return np.array([found[digest] for digest in digests], np.float32).reshape(len(texts), self.dimension)

    async def _shared(self, digests: tuple[bytes, ...], begin: Callable[[], Awaitable[Vectors]]) -> Vectors:
        """Embeds a text once for all callers that ask for it at the same time, as both tiers of a search do for the
        question."""
        if digests not in self._under_way:
            self._under_way[digests] = Call(asyncio.ensure_future(begin()))
        call = self._under_way[digests]
        call.waiting += 1
        try:
            return await asyncio.shield(call.vectors)
        finally:
            call.waiting -= 1
            if not call.waiting and self._under_way.get(digests) is call:
                del self._under_way[digests]
                call.vectors.cancel()
