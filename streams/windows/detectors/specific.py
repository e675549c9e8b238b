"""Detects specific statements of users, which later messages may need and no other message has."""

import re
from typing import Final

MIN_WORDS: Final = 12  # in a statement without a number or a name
_NUMBER_OR_NAME: Final = re.compile(r"\d|[\w,;:] [A-ZÀ-ÖØ-Þ][^\W\d_]")  # a name is a capital letter within a sentence


def specific(text: str, words: int) -> bool:
    """Whether a user's text states something and holds a number, a name, or at least `MIN_WORDS` of its `words`.

    A text that ends in a question mark asks. German nouns count as names.
    """
    if text.rstrip().endswith("?"):
        return False
    return words >= MIN_WORDS or _NUMBER_OR_NAME.search(text) is not None
