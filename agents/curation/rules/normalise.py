"""The form in which two texts are the same text: what exact matching compares."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby

CONTRACTION = re.compile(r"'(?=(?:s|t|m|d|re|ve|ll)\b)")  # don't and user's are one word, l'été is two
OF_NUMBER = re.compile(r"(?<=\d)[.,:](?=\d)|(?<![\w)])[-−](?=\d)")  # 3.5, 10:30, -4
KEPT_SIGNS = frozenset("#%_")  # C#, 50 %, snake_case
DROPPED_SIGNS = frozenset("`\ufffd")  # the second stands in Postgres for what it cannot store
KEPT_CATEGORIES = frozenset("LMNS")  # letters, marks (vowels in some scripts), numbers, symbols (emoji, currencies)
INVISIBLE = {"Cf"}  # soft hyphens and joiners: taken out without leaving a space
PRESENTATION = "\ufe0f"  # asks for the coloured form of an emoji
# Marks that combine with a letter are in no other class, save for the two of half-width Katakana.
MANY_MARKS = re.compile(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){30,}")  # no script has so many on one letter


def normalise(text: str) -> str:
    """Case-folded, in NFKC, punctuation and white space collapsed to single spaces.

    A text of nothing but punctuation keeps it.
    """
    composed = unicodedata.normalize("NFKC", MANY_MARKS.sub(in_order, text))
    folded = unicodedata.normalize("NFKC", composed.casefold())
    plain = CONTRACTION.sub("", folded.replace("’", "'")).replace(PRESENTATION, "")
    of_numbers = {sign.start() for sign in OF_NUMBER.finditer(plain)}
    kept = "".join(char if index in of_numbers else reduced(char) for index, char in enumerate(plain))
    return " ".join(kept.split()) or " ".join(folded.split())


def in_order(marks: re.Match[str]) -> str:
    """The marks as normal forms order them. `unicodedata` orders them too, but in quadratic time when there are many."""
    apart = "".join(unicodedata.normalize("NFKD", char) for char in marks.group())
    groups = groupby(apart, key=lambda char: unicodedata.combining(char) > 0)
    return "".join(
        char
        for combining, group in groups
        for char in (sorted(group, key=unicodedata.combining) if combining else group)
    )


@lru_cache(maxsize=4_096)
def reduced(char: str) -> str:
    """The character itself, a space in place of punctuation, or nothing in place of what cannot be seen."""
    category = unicodedata.category(char)
    if char in KEPT_SIGNS or (category[0] in KEPT_CATEGORIES and char not in DROPPED_SIGNS):
        return char
    return "" if category in INVISIBLE else " "
