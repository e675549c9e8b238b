"""The normal form in which texts are compared for equality."""

import re
import unicodedata
from itertools import groupby
from typing import Final

CONTRACTION = re.compile(r"'(?=(?:s|t|m|d|re|ve|ll)\b)")  # "don't" and "user's" are one word, "l'été" two
OF_NUMBER = re.compile(r"(?<=\d)[.,:](?=\d)|(?<![\w)])[-−](?=\d)")  # 3.5, 10:30, -4
KEPT_SIGNS = frozenset("#%_")  # C#, 50 %, snake_case
DROPPED_SIGNS = frozenset("`\ufffd")  # U+FFFD replaces characters that PostgreSQL cannot store
KEPT_CATEGORIES = frozenset("LMNS")  # letters, marks (vowels in some scripts), numbers, symbols (emoji, currencies)
INVISIBLE = {"Cf"}  # soft hyphens and joiners: removed without a space
PRESENTATION = "\ufe0f"  # variation selector of emoji
# Combining marks are in no other class, except for two half-width Katakana marks.
MANY_MARKS = re.compile(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){30,}")  # no script has that many marks on a letter


def normalise(text: str) -> str:
    """The text in NFKC and case-folded, with punctuation and white space collapsed to single spaces.

    A text of punctuation only keeps it.
    """
    folded = text.lower() if text.isascii() else composed_and_folded(text)
    plain = CONTRACTION.sub("", folded.replace("’", "'")).replace(PRESENTATION, "")
    kept, start = list[str](), 0
    for sign in OF_NUMBER.finditer(plain):
        kept += (plain[start : sign.start()].translate(REDUCED), sign.group())
        start = sign.end()
    kept.append(plain[start:].translate(REDUCED))
    return " ".join("".join(kept).split()) or " ".join(folded.split())


def composed_and_folded(text: str) -> str:
    composed = unicodedata.normalize("NFKC", MANY_MARKS.sub(in_order, text))
    return unicodedata.normalize("NFKC", composed.casefold())


def in_order(marks: re.Match[str]) -> str:
    """The text with combining marks in canonical order. `unicodedata` takes quadratic time for many marks."""
    apart = "".join(unicodedata.normalize("NFKD", char) for char in marks.group())
    groups = groupby(apart, key=lambda char: unicodedata.combining(char) > 0)
    return "".join(
        char
        for combining, group in groups
        for char in (sorted(group, key=unicodedata.combining) if combining else group)
    )


def reduced(char: str) -> str:
    """The character itself, a space for punctuation, or nothing for an invisible character."""
    category = unicodedata.category(char)
    if char in KEPT_SIGNS or (category[0] in KEPT_CATEGORIES and char not in DROPPED_SIGNS):
        return char
    return "" if category in INVISIBLE else " "


class Reduced(dict[int, str]):
    """`reduced` as a table for `str.translate`; caches 4,096 characters."""

    def __missing__(self, code: int) -> str:
        made = reduced(chr(code))
        if len(self) < MAX_KEPT:
            self[code] = made
        return made


MAX_KEPT: Final = 4_096
REDUCED: Final = Reduced()
