"""What a model call sent, in memstream's own count: beside the bill it teaches how the model counts tokens."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from agents.models.port import Call, Usage
from streams.windows.tokens.calibration import request_tokens
from streams.windows.tokens.counting import TokenCount

# With structured outputs the API bills a prompt of its own about the format. Its words are not published, some 50 to 200
# tokens by what its users report: in a request of this size a tenth at most, and on the safe side.
FEWEST_TOKENS: Final = 2_000
# Counting takes the event loop's time: some 0.2 ms a thousand characters of English, 0.5 ms of Chinese. A slice of 8,000 tokens
# is below this (1 to 5 ms); a single message above it, up to 1 MB, is not worth the stall.
LONGEST_CHARS: Final = 64_000


class Meter:
    """Counts with `count_tokens`; texts that many calls share are counted once."""

    def __init__(self, count_tokens: TokenCount) -> None:
        self._count = count_tokens
        self._count_fixed = lru_cache(maxsize=64)(count_tokens)

    def measured(self, fixed: Sequence[str], said: Sequence[str], usage: Usage) -> tuple[Call, ...]:
        """The call that sent `fixed` texts, which many calls share, and the messages `said`; none if it teaches nothing."""
        if sum(map(len, said)) > LONGEST_CHARS:
            return ()
        counted = request_tokens(sum(map(self._count_fixed, fixed)) + sum(map(self._count, said)), len(said))
        if counted < FEWEST_TOKENS:
            return ()
        billed = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        return (Call(counted_tokens=counted, billed_tokens=billed),)
