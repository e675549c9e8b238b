"""Context sizes for a prompt: servers silently truncate a prompt that exceeds their context."""

import re
from typing import Final

# A change of the context size reloads the model (seconds to minutes), so there are few sizes.
STEP: Final = 4_096
# A token has at most one word, as vocabularies separate words and punctuation; in Chinese, Japanese and Korean
# it has three characters on average.
LEAST: Final = re.compile("[A-Za-z'\u00c0-\u024f\u0370-\u052f]+|[\u0590-\u1fff]+|[\u3040-\ud7a3]{3}")


def window_for(prompt_tokens: int, answer_tokens: int, largest: int) -> int:
    """The context size in tokens for a prompt and its answer: a multiple of STEP, or `largest` if that is less."""
    return min(largest, STEP * -(-(prompt_tokens + answer_tokens) // STEP))


def min_tokens(text: str) -> int:
    """A lower bound of a text's tokens in any model: 0.4 to 0.6 of the count of cl100k and o200k for English prompts, 0.2 to
    0.3 for Chinese."""
    return sum(1 for _ in LEAST.finditer(text))
