"""Many texts through an embedder, in calls of a bounded size: whoever else waits for it has a turn between two."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sinks.embeddings.port import Embedder

MOST_TEXTS: Final = 64  # several batches of each thread of an embedder in this process
MOST_CHARS: Final = 32_000


async def embedded(embedder: Embedder, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """The vectors by their texts, each embedded once. Raises what the embedder raises."""
    found: dict[str, NDArray[np.float32]] = {}
    for some in calls(sorted(dict.fromkeys(texts), key=len)):
        found |= zip(some, await embedder.embed(some), strict=True)
    return found


def calls(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in their order, MOST_TEXTS or MOST_CHARS at a time; a longer one alone."""
    some: list[str] = []
    chars = 0
    for text in texts:
        if some and (len(some) == MOST_TEXTS or chars + len(text) > MOST_CHARS):
            yield some
            some, chars = [], 0
        some.append(text)
        chars += len(text)
    if some:
        yield some
