"""The form in which two texts are the same text: what exact matching compares."""

import re
import unicodedata
from itertools import groupby
from typing import Final

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
    """The marks as normal forms order them. `unicodedata` orders them too, but in quadratic time when there are many."""
    apart = "".join(unicodedata.normalize("NFKD", char) for char in marks.group())
    groups = groupby(apart, key=lambda char: unicodedata.combining(char) > 0)
    return "".join(
        char
        for combining, group in groups
        for char in (sorted(group, key=unicodedata.combining) if combining else group)
    )


def reduced(char: str) -> str:
    """The character itself, a space in place of punctuation, or nothing in place of what cannot be seen."""
    category = unicodedata.category(char)
    if char in KEPT_SIGNS or (category[0] in KEPT_CATEGORIES and char not in DROPPED_SIGNS):
        return char
    return "" if category in INVISIBLE else " "


class Reduced(dict[int, str]):
    """What `reduced` makes of each character, for `str.translate`; the first 4,096 are kept."""

    def __missing__(self, code: int) -> str:
        made = reduced(chr(code))
        if len(self) < MOST_KEPT:
            self[code] = made
        return made


MOST_KEPT: Final = 4_096
REDUCED: Final = Reduced()
