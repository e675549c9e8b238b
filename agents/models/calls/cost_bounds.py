"""An upper bound of a question's bill, to be reserved before the call."""

from functools import lru_cache
from math import ceil
from typing import Any, Final

from agents.models.answers.summaries import estimated_tokens
from agents.models.calls.exchange import ModelCalls, first_max_tokens
from agents.models.calls.metering import MAX_CHARS
from agents.models.port import Usage
from agents.models.prompts.questions import Question
from streams.windows.tokens.calibration import request_tokens
from streams.windows.tokens.counting import TokenCount

# Billed tokens per counted token: Claude's older models bill up to 1.2 (158 recorded requests); newer ones count
# about 1.3 times as many tokens for the same text (according to Anthropic).
MAX_BILLED_RATIO: Final = 1.6
# The prompt that the API adds for structured outputs (50 to 200 tokens, as users report), and the repair's text.
ADDED_TOKENS: Final = 300


class CostBounds:
    """Bounds the cost of questions, counting with `count_tokens`. Texts that many questions share are counted once."""

    def __init__(self, count_tokens: TokenCount) -> None:
        self._count = count_tokens
        self._count_fixed = lru_cache(maxsize=64)(count_tokens)

    def of(self, calls: ModelCalls, question: Question[Any]) -> Usage:
        """The bound for at most two calls: the first, and a repair that includes the first reply and may be longer.

        The whole prompt counts at the highest price, that of cache writes.
        """
        counted = sum(map(self._count_fixed, calls.fixed_texts(question))) + self._counted(question.user_prompt)
        prompt = ceil(request_tokens(counted, 1) * MAX_BILLED_RATIO) + ADDED_TOKENS
        first = first_max_tokens(calls, question)
        return Usage(cache_write_tokens=2 * prompt + first, output_tokens=first + calls.max_reply_tokens)

    def _counted(self, text: str) -> int:
        """Counts with an upper estimate for long texts, as exact counting would block the event loop."""
        return self._count(text) if len(text) <= MAX_CHARS else estimated_tokens(text)
