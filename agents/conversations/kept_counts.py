"""Token counts of texts that were counted before: a conversation is asked for again and again, and its texts stay the same."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from hashlib import blake2b
from typing import Final

from streams.windows.tokens.counting import TokenCount

MOST_KEPT: Final = 200_000  # counts, of some 150 bytes each
AT_ONCE: Final = 20_000  # characters that are counted on the event loop, in about a millisecond
DIGEST_BYTES: Final = 16


class KeptCounts:
    """A TokenCount that keeps what it counted, the least recently asked for leaving first. `told` hears of each text whether its
    count was at hand. Texts themselves are not kept."""

    def __init__(
        self,
        count: TokenCount,
        told: Callable[[bool], None] = lambda kept: None,
        apart: Callable[..., Awaitable[list[int]]] = asyncio.to_thread,
        most: int = MOST_KEPT,
    ) -> None:
        self._count = count
        self._told = told
        self._apart = apart
        self._most = most
        self._kept: dict[bytes, int] = {}

    def __call__(self, text: str) -> int:
        key = digest(text)
        tokens = self._kept.pop(key, None)
        self._told(tokens is not None)
        return self._keep(key, self._count(text) if tokens is None else tokens)

    async def prepare(self, texts: Iterable[str]) -> None:
        """Counts beside the event loop what would hold it: afterwards these are at hand."""
        missing = {key: text for text in texts if (key := digest(text)) not in self._kept}
        if sum(map(len, missing.values())) <= AT_ONCE:
            return
        counts = await self._apart(lambda: [self._count(text) for text in missing.values()])
        for key, tokens in zip(missing, counts, strict=True):
            self._told(False)
            self._keep(key, tokens)

    def _keep(self, key: bytes, tokens: int) -> int:
        self._kept[key] = tokens
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return tokens


def digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
