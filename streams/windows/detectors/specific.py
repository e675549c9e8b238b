"""Specific statements: what users tell that later messages may need, as no other message has it."""

import re
from typing import Final

LEAST_WORDS: Final = 12  # of a statement that has neither a number nor a name
_NUMBER_OR_NAME: Final = re.compile(r"\d|[\w,;:] [A-ZÀ-ÖØ-Þ][^\W\d_]")  # a name is a capital letter within a sentence


def specific(text: str, words: int) -> bool:
    """Whether a user's text states something and holds a number, a name, or at least `LEAST_WORDS` of its `words`.

    A text that ends in a question mark asks. German nouns count as names.
    """
    if text.rstrip().endswith("?"):
        return False
    return words >= LEAST_WORDS or _NUMBER_OR_NAME.search(text) is not None
