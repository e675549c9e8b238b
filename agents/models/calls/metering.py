"""Counts the tokens of a model call's prompt; compared with the bill, this calibrates the model's token counts."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from agents.models.port import MeasuredCall, Usage
from streams.windows.tokens.calibration import request_tokens
from streams.windows.tokens.counting import TokenCount

# With structured outputs the API bills a prompt about the format. Its text is not published (50 to 200
# tokens, as users report): at most a tenth of a request of this size, and it overestimates.
MIN_TOKENS: Final = 2_000
# Counting blocks the event loop: about 0.2 ms per thousand characters of English, 0.5 ms of Chinese. A slice of 8,000 tokens
# is below this limit (1 to 5 ms); larger texts, up to 1 MB, are not counted.
MAX_CHARS: Final = 64_000


class Meter:
    """Measures calls, counting with `count_tokens`. Texts that many calls share are counted once."""

    def __init__(self, count_tokens: TokenCount) -> None:
        self._count = count_tokens
        self._count_fixed = lru_cache(maxsize=64)(count_tokens)

    def measured(self, fixed: Sequence[str], messages: Sequence[str], usage: Usage) -> tuple[MeasuredCall, ...]:
        """The measurement of a call with the shared texts `fixed` and the texts of its `messages`; empty for a prompt that is too
        short or too long for calibration."""
        if sum(map(len, messages)) > MAX_CHARS:
            return ()
        counted = request_tokens(sum(map(self._count_fixed, fixed)) + sum(map(self._count, messages)), len(messages))
        if counted < MIN_TOKENS:
            return ()
        billed = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
        return (MeasuredCall(counted_tokens=counted, billed_tokens=billed),)
