"""Embeds many texts in calls of a bounded size, so that other callers of the embedder get their turn in between."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.port import Embedder

MAX_TEXTS: Final = 64  # a few batches for each thread of a local embedder
MAX_CHARS: Final = 32_000


async def embed_in_batches(embedder: Embedder, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The vectors by text; equal texts are embedded once. Raises what the embedder raises."""
    found: dict[str, NDArray[np.float32]] = {}
    for some in batches(sorted(dict.fromkeys(texts), key=len)):
        found |= zip(some, await embedder.embed(some), strict=True)
    return found


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Splits texts, in order, into calls of at most `MAX_TEXTS` and `MAX_CHARS`; a longer text gets a call of its own."""
    some: list[str] = []
    chars = 0
    for text in texts:
        if some and (len(some) == MAX_TEXTS or chars + len(text) > MAX_CHARS):
            yield some
            some, chars = [], 0
        some.append(text)
        chars += len(text)
    if some:
        yield some
