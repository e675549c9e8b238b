"""The most that a question can be billed, known before it is asked: what is reserved of a budget for it."""

from functools import lru_cache
from math import ceil
from typing import Any, Final

from agents.models.answers.summaries import estimated_tokens
from agents.models.calls.exchange import Calls, first_max_tokens
from agents.models.calls.metering import LONGEST_CHARS
from agents.models.port import Usage
from agents.models.prompts.questions import Question
from streams.windows.tokens.calibration import request_tokens
from streams.windows.tokens.counting import TokenCount

# Billed tokens for each counted one: Claude's older models bill up to 1.2 (158 recorded requests), and its newer ones count
# some 1.3 times as many tokens for the same text (their maker's word).
DEAREST: Final = 1.6
# The prompt that the API adds for structured outputs, 50 to 200 by what its users report, and the words of a repair.
ADDED_TOKENS: Final = 300


class Bounds:
    """Counts with `count_tokens`; texts that many questions share are counted once."""

    def __init__(self, count_tokens: TokenCount) -> None:
        self._count = count_tokens
        self._count_fixed = lru_cache(maxsize=64)(count_tokens)

    def of(self, calls: Calls, question: Question[Any]) -> Usage:
        """Of its two calls at most: the first, and a repair, which is shown the first reply and may answer at more length.

        All of the prompt at the dearest price, as if it were written to a cache.
        """
        counted = sum(map(self._count_fixed, calls.fixed(question))) + self._counted(question.asked)
        prompt = ceil(request_tokens(counted, 1) * DEAREST) + ADDED_TOKENS
        first = first_max_tokens(calls, question)
        return Usage(cache_write_tokens=2 * prompt + first, output_tokens=first + calls.larger_max_tokens)

    def _counted(self, text: str) -> int:
        """Counting a long text would stall the event loop."""
        return self._count(text) if len(text) <= LONGEST_CHARS else estimated_tokens(text)
